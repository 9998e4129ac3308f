import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import { testTenantOf } from "../../src/platform/test-tenant.ts";
import type { JobPage } from "../../src/store/job-port.ts";
import { createAccountCases } from "../../src/store/postgres/accounts/account-cases.ts";
import { erasureCases } from "../../src/store/postgres/accounts/erasure-cases.ts";
import { createKeyCases } from "../../src/store/postgres/accounts/key-cases.ts";
import { createAdmitCases } from "../../src/store/postgres/admission/admit-cases.ts";
import { createInvoiceCases } from "../../src/store/postgres/billing/invoice-cases.ts";
import type { Connection } from "../../src/store/postgres/connection/connection.ts";
import type { Orm } from "../../src/store/postgres/connection/orm.ts";
import { createChunkCases } from "../../src/store/postgres/jobs/chunk-cases.ts";
import { createJobCases } from "../../src/store/postgres/jobs/job-cases.ts";
import { createPartCases } from "../../src/store/postgres/jobs/part-cases.ts";
import { migrate } from "../../src/store/postgres/migrations.ts";
import { NOON } from "../store/store-conformance.ts";
import { event } from "../store/webhook-conformance.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the plans of its statements are not tested", () => {});
}

describe.if(isPostgresInstalled)("a look that nodes repeat, in a large database", () => {
  let server: PostgresServer;
  let sql: SQL;

  beforeAll(async () => {
    server = await startPostgres();
    sql = new SQL(await server.createDatabase(), { max: 1 });
    await migrate(sql, NOON);
    // Without the accounts of the plan periods, and without the triggers that look at each row.
    await sql`SET session_replication_role = replica`;
    await sql`
      INSERT INTO plan_periods (account_id, period_start, period_end, plan, monthly_price_micro_usd, included_units,
        starts_at, ends_at, invoice_id)
      SELECT 'acc_' || n % 20000, month, month + 1, 'free', 0, 1, month, month + 1, 'inv_' || n
      FROM generate_series(1, 200000) AS n, LATERAL (SELECT ${NOON} - n % 10 - 2 AS month) AS months`;
    await sql`
      INSERT INTO plan_periods (account_id, period_start, period_end, plan, monthly_price_micro_usd, included_units,
        starts_at)
      SELECT 'acc_' || n, ${NOON - 1}, ${NOON}, 'free', 0, 1, ${NOON - 1} FROM generate_series(0, 19999) AS n`;
    await sql`
      INSERT INTO account_changes
      SELECT 'acc_' || n, extract(epoch from clock_timestamp()) * 1000 - n * 70 FROM generate_series(0, 49999) AS n`;
    await sql`
      INSERT INTO job_part_frames
      SELECT 'part_' || n, 0, 'job', '', extract(epoch from clock_timestamp()) * 1000 FROM generate_series(1, 50000) AS n`;
    await sql`
      INSERT INTO accounts (account_id, email, normalized, plan, created_at, erased_at)
      SELECT 'acc_' || n, '', CASE WHEN n % 1000 = 0 THEN 'erased ' ELSE '' END || n, 'free', 1,
        CASE WHEN n % 1000 = 0 THEN 1 END
      FROM generate_series(0, 49999) AS n`;
    // Nearly all have had their event, or are revoked.
    await sql`
      INSERT INTO api_keys (key_hash, account_id, created_at, expires_at, key_id, expiry_event_at, revoked_at)
      SELECT 'hash_' || n, 'acc_' || n, 1, ${NOON} + n, 'key_' || n, CASE WHEN n % 1000 > 500 THEN 1 END,
        CASE WHEN n % 1000 BETWEEN 1 AND 500 THEN 1 END
      FROM generate_series(0, 49999) AS n`;
    // A status that nearly all jobs had would be found as fast without an index of its own: which one is taken would be chance.
    await sql`
      INSERT INTO jobs (job_id, account_id, kind, status, created_at, deleted_at, options, chunk_count, rows,
        distinct_rows, units_per_item, processed, counts, units_charged, round, is_test)
      SELECT 'job_' || n, 'acc_0', 'email',
        (ARRAY['completed', 'failed', 'cancelled', 'paused', 'queued'])[n % 5 + 1], n,
        CASE WHEN n % 3 = 0 THEN n END, '{}', 0, 0, 0, 1, 0, '{}', 0, 1, n % 4 = 1
      FROM generate_series(0, 59999) AS n`;
    // Half of the chunks of each of twenty jobs are done.
    await sql`
      INSERT INTO job_chunks
      SELECT 'job_' || job, n, CASE WHEN n < 1250 THEN 'done' ELSE 'waiting' END, 0, n, 1, 'lines', NULL,
        CASE WHEN n < 1250 THEN 1 ELSE 0 END, 0, 0, 0, NULL, NULL
      FROM generate_series(0, 19) AS job, generate_series(0, 2499) AS n`;
    await sql`INSERT INTO job_inputs SELECT job_id, n, '' FROM job_chunks`;
    await sql`ANALYZE`;
  }, 120_000);
  afterAll(async () => {
    await sql?.close({ timeout: 0 });
    await server?.[Symbol.asyncDispose]();
  });

  /** Returns the plans of the statements of a use case that read or write a table. */
  async function plansOf(table: string, run: (connection: Connection) => unknown): Promise<string> {
    const asked: (readonly [text: string, values: unknown[]])[] = [];
    const client = new Proxy(sql, {
      get(target, name) {
        const found = Reflect.get(target, name);
        if (typeof found !== "function") return found;
        if (name !== "unsafe") return found.bind(target);
        return (text: string, values: unknown[] = []) => {
          asked.push([text, values]);
          return target.unsafe(text, values);
        };
      },
    });
    const orm = drizzle({ client }) as unknown as Orm;
    const work = <T>(each: (orm: Orm) => Promise<T>) => each(orm);
    await run({ read: work, transact: work, transactAtOnce: null } as unknown as Connection);
    const plans: string[] = [];
    for (const [text, values] of asked) {
      if (!text.includes(`"${table}"`)) continue;
      const lines = await sql.unsafe(`EXPLAIN (COSTS OFF) ${text}`, values);
      plans.push(...lines.map((line: Readonly<Record<string, string>>) => line["QUERY PLAN"]));
    }
    return plans.join("\n");
  }

  test("finds the accounts whose month is over in the order of an index, and sorts none", async () => {
    const plans = await plansOf("plan_periods", (connection) =>
      createAccountCases(connection, "one").accountsToEnter(NOON, 100),
    );
    expect(plans).toContain("Index Scan using plan_periods_to_enter");
    expect(plans).not.toMatch(/Sort|Seq Scan/);
  });

  test("finds the months to invoice without those that have their invoice", async () => {
    const plans = await plansOf("plan_periods", (connection) =>
      createInvoiceCases(connection).planPeriodsToInvoice(NOON, 0, 100),
    );
    expect(plans).toContain("Index Scan using plan_periods_to_invoice");
    expect(plans).not.toMatch(/Sort|Seq Scan/);
  });

  test("finds the accounts that changed of late, and the changes that are old, by their time", async () => {
    const clock = { monotonic: () => 0 };
    const looks = [
      await plansOf("account_changes", (connection) =>
        createAdmitCases(connection, "one", clock).changedAccounts(5_000),
      ),
      await plansOf("account_changes", (connection) =>
        createAdmitCases(connection, "one", clock).renewClaims(),
      ),
    ];
    for (const plans of looks) {
      expect(plans).toContain("account_changes_by_time");
      expect(plans).not.toContain("Seq Scan");
    }
  });

  test("finds what is left of uploads by its time", async () => {
    const plans = await plansOf("job_part_frames", (connection) =>
      createPartCases(connection).removeAbandonedFrames(60_000),
    );
    expect(plans).toContain("job_part_frames_by_time");
    expect(plans).not.toContain("Seq Scan on job_part_frames");
  });

  test("lists jobs of any status, and those of test keys, in the order of an index, from any page on", async () => {
    const clock = { now: () => NOON };
    const page = { accountId: "acc_0", status: null, afterJobId: null, limit: 100 } as const;
    const plansOfPage = (more: Partial<JobPage>) =>
      plansOf("jobs", (connection) => createJobCases(connection, "one", clock).jobPage({ ...page, ...more }));
    const pages: readonly (readonly [Partial<JobPage>, index: string])[] = [
      [{}, "jobs_listed_by_time"],
      [{ accountId: testTenantOf("acc_0") }, "jobs_listed_by_time"],
      [{ status: "completed" }, "jobs_listed_by_status"],
      [{ status: "failed" }, "jobs_listed_by_status"],
    ];
    for (const [more, index] of pages) {
      const plans = await plansOfPage(more);
      expect(plans).toContain(`Index Scan Backward using ${index}`);
      expect(plans).not.toMatch(/Sort|Seq Scan|Filter/);
    }
    const behind = await plansOfPage({ status: "completed", afterJobId: "job_30002" });
    expect(behind).toContain("ROW(created_at, job_id) < ROW(");
    expect(behind).not.toMatch(/Sort|Seq Scan|Filter/);
  });

  test("finds the keys that expire soon without those that had their event, or are revoked", async () => {
    const soon = { after: NOON, until: NOON + 100_000, limit: 100 };
    const plans = await plansOf("api_keys", (connection) =>
      createKeyCases(connection, "one").emitExpiringKeys(soon, () => event()),
    );
    expect(plans).toContain("Index Scan using api_keys_without_event");
    expect(plans).not.toMatch(/Sort|Seq Scan/);
  });

  test("finds the erased accounts whose jobs are left without a look at the others", async () => {
    const plans = await plansOf("accounts", (connection) => erasureCases(connection).accountsToClear());
    expect(plans).toContain("accounts_erased");
    expect(plans).not.toContain("Seq Scan");
  });

  test("claims the first chunk that waits without a look at those that are done", async () => {
    const cases = (connection: Connection) => createChunkCases(connection, "node_a", { now: () => NOON });
    const plans = [
      await plansOf("job_chunks", (connection) => cases(connection).claimChunk("job_4")),
      await plansOf("job_chunks", (connection) => cases(connection).claimGap("job_3")),
    ];
    for (const plan of plans) {
      expect(plan).toContain("Index Scan using job_chunks_waiting on job_chunks waiting");
      expect(plan).not.toMatch(/Sort|Seq Scan|Hash/);
    }
  });
});
