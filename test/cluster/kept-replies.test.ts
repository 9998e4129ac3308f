import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import { createLog } from "../../src/app/log.ts";
import { readConfig } from "../../src/app/settings.ts";
import { openSharedMoney } from "../../src/app/shared-money.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { putReply } from "../../src/store/postgres/reply-rows.ts";
import { replyRecord } from "../store/store-conformance.ts";
import { until } from "../support/caller.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const MB = 1_048_576;

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so kept replies of a cluster are not tested", () => {});
}

describe.if(isPostgresInstalled)("kept replies of a cluster", () => {
  let processes: TwoProcesses;

  beforeAll(async () => {
    processes = await openTwoProcesses();
    const { sql } = processes;
    await sql`CREATE TABLE removals (transaction_id bigint, bytes bigint)`;
    await sql`CREATE FUNCTION note_removal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO removals SELECT txid_current(), coalesce(sum(body_bytes), 0) FROM gone; RETURN NULL; END $$`;
    await sql`CREATE TRIGGER noted AFTER DELETE ON idempotent_replies REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION note_removal()`;
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    await processes.sql`TRUNCATE removals`;
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  async function keep(name: string, bodyBytes: number, expiresAt: number): Promise<void> {
    await processes.sql`INSERT INTO idempotent_replies
      (account_id, idempotency_key, fingerprint, status, body_bytes, expires_at, headers, body)
      VALUES ('acc_a', ${name}, 'f', 200, ${bodyBytes}, ${expiresAt}, '{}', 'x')`;
  }

  test("large ones that have expired go a few at a time, the oldest first, as many as are asked for", async () => {
    for (let n = 0; n < 30; n += 1) await keep(`k${n}`, 5 * MB, n);
    await keep("k_larger", 90 * MB, 30);
    await keep("k_valid", 1, 1_000);
    const removed = await processes.one.removeExpiredReplies(100, 20);
    const names = removed.map(({ idempotencyKey }) => idempotencyKey).sort();
    expect(names).toEqual(Array.from({ length: 20 }, (_, n) => `k${n}`).sort());
    const rows =
      await processes.sql`SELECT sum(bytes)::float8 AS bytes FROM removals GROUP BY transaction_id`;
    expect(Math.max(...rows.map(({ bytes }: { readonly bytes: number }) => bytes))).toBeLessThan(40 * MB);
    expect(await processes.one.removeExpiredReplies(100, 20)).toHaveLength(11);
    expect(await processes.one.keptReplies()).toEqual([{ accountId: "acc_a", bytes: 1, count: 1 }]);
  });

  test("are sent to the database once, also in the place of an earlier one", async () => {
    const sent: unknown[] = [];
    const logger = { logQuery: (_: string, values: unknown[]) => void sent.push(...values) };
    await using client = new SQL(processes.url, { max: 1 });
    const orm = drizzle({ client, logger });
    for (const body of ["the first body", "the second body"]) await putReply(orm, replyRecord("k", { body }));
    expect(sent.filter((value) => `${value}`.endsWith("body"))).toEqual([
      "the first body",
      "the second body",
    ]);
    expect((await processes.one.findReply("acc_a", "k"))?.body).toBe("the second body");
  });

  test("that cannot be counted in time keep no node from starting, and are counted later", async () => {
    await keep("k0", 1_000, Date.now() + 1_000_000);
    using folder = temporaryFolder("money");
    await using stack = new AsyncDisposableStack();
    const platform = {
      clock: systemClock,
      log: createLog("error", { write: () => {} }),
      randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
    };
    const { sql, url } = processes;
    // Held for as long as a disk would take that has none of the table in memory.
    const { promise: isStarted, resolve: started } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const holding = sql.begin(async (transaction) => {
      await transaction`LOCK TABLE idempotent_replies IN ACCESS EXCLUSIVE MODE`;
      held();
      await isStarted;
    });
    await isHeld;
    const config = readConfig({ DATA_DIR: folder.path }, 1);
    const starting = openSharedMoney(config, platform, url, stack);
    await starting.finally(() => started());
    const { idempotency } = await starting;
    await holding;
    await until("the count", async () => idempotency.keptBytes() > 1_000, 10_000);
  });
});
