import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import { createAccountCases } from "../../src/store/postgres/accounts/account-cases.ts";
import { createAdmitCases } from "../../src/store/postgres/admission/admit-cases.ts";
import { createInvoiceCases } from "../../src/store/postgres/billing/invoice-cases.ts";
import type { Connection } from "../../src/store/postgres/connection/connection.ts";
import type { Orm } from "../../src/store/postgres/connection/orm.ts";
import { createPartCases } from "../../src/store/postgres/jobs/part-cases.ts";
import { migrate } from "../../src/store/postgres/migrations.ts";
import { NOON } from "../store/store-conformance.ts";
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
});
