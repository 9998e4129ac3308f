import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import { clearErased, clearErasedAccount } from "../../src/accounts/account-erasure.ts";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { createOperators } from "../../src/accounts/operator-commands.ts";
import { DEFAULT_PLANS as plans } from "../../src/billing/plans.ts";
import { openSharedClock } from "../../src/billing/shared-clock.ts";
import { createSharedMeter } from "../../src/billing/shared-meter.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { NOON } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const DEADLINE_MS = 1_000;
/** One in five takes the server a millisecond or two: all of them at once take longer than the deadline. */
const MANY = 5_000;
const SLOW = "IF hashtext(OLD.job_id) % 5 = 0 THEN PERFORM pg_sleep(0.001); END IF";
const FULL = "IF OLD.status = 'completed' THEN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END IF";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the erasure of accounts is not tested", () => {});
}

/** What an operator's command on a cluster runs in. */
async function operatorsOn(store: SharedStore) {
  const clock = { now: () => NOON, monotonic: () => performance.now() };
  const keyRing = createKeyRing({ store, plans, clock });
  const billingClock = await openSharedClock({ store, clock, onProblem: () => {} });
  const meter = createSharedMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  const randomBytes = systemRandomBytes;
  const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
  const clear = (accountId: string) => clearErasedAccount(store, accountId);
  return createOperators({ store, meter, keyRing, accounts, clock, clearErased: clear });
}

describe.if(isPostgresInstalled)("an account with very many jobs", () => {
  let processes: TwoProcesses;
  let store: SharedStore;
  let sql: SQL;

  beforeAll(async () => {
    processes = await openTwoProcesses({ deadlineMs: DEADLINE_MS });
    ({ one: store, sql } = processes);
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    await write("ended", "completed", MANY);
    await write("deleted", "completed", 300, NOON - 1);
    await write("waiting", "queued", 1);
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  const write = (name: string, status: string, count: number, deletedAt: number | null = null) =>
    sql.unsafe(`
      INSERT INTO jobs (job_id, account_id, kind, name, status, created_at, deleted_at, options, chunk_count, rows,
        distinct_rows, units_per_item, processed, counts, units_charged, round, is_test, webhook_url)
      SELECT '${name}_' || n, 'acc_a', 'email', 'customers of Ann', '${status}', ${NOON} + n / 3, ${deletedAt}, '{}', 0, 0,
        0, 1, 0, '{}', 0, 1, false, 'https://example.com/ann'
      FROM generate_series(1, ${count}) AS n`);

  /** Runs work while each removal of a key takes a fifth of a millisecond or more. */
  async function whileRemovingSlowly(work: () => unknown): Promise<void> {
    await sql.unsafe(`
      CREATE FUNCTION before_removal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF hashtext(OLD.key_hash) % 5 = 0 THEN PERFORM pg_sleep(0.001); END IF; RETURN OLD; END $$`);
    await sql`
      CREATE TRIGGER before_removal BEFORE DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION before_removal()`;
    try {
      await work();
    } finally {
      await sql`DROP FUNCTION before_removal CASCADE`;
    }
  }

  /** Runs work while each change of a job does this first. */
  async function whileChanging(first: string, work: () => unknown): Promise<void> {
    await sql.unsafe(`
      CREATE FUNCTION before_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${first}; RETURN NEW; END $$`);
    await sql`
      CREATE TRIGGER before_change BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION before_change()`;
    try {
      await work();
    } finally {
      await sql`DROP FUNCTION before_change CASCADE`;
    }
  }

  /** Counts the jobs of which something is left, and those that may still be worked on. */
  async function left() {
    const [row] = await sql`
      SELECT count(*) FILTER (WHERE name IS NOT NULL OR webhook_url IS NOT NULL OR deleted_at IS NULL)::int AS said,
        count(*) FILTER (WHERE status = 'queued')::int AS live,
        count(*) FILTER (WHERE deleted_at < ${NOON})::int AS deleted
      FROM jobs`;
    return row;
  }

  const erase = async () => (await operatorsOn(store)).run({ action: "erase", account: "acc_a" }, "root");

  test("is erased by one command", async () => {
    await whileChanging(SLOW, async () => expect(await erase()).toMatchObject({ ok: true }));
    expect(await left()).toEqual({ said: 0, live: 0, deleted: 300 });
    expect(await store.findAccount("acc_a")).toMatchObject({ email: "", normalized: "erased acc_a" });
    expect(await store.accountsToClear()).toEqual([]);
  }, 30_000);

  test("is erased by one command, however many keys of it have ended", async () => {
    await sql.unsafe(`
      INSERT INTO api_keys (key_hash, account_id, created_at, expires_at, rotates_at, revoked_at, key_id)
      SELECT 'ended ' || n, 'acc_a', n, n + 1, n + 1, n + 1, 'id ended ' || n FROM generate_series(1, ${MANY}) AS n`);
    await whileRemovingSlowly(async () => expect(await erase()).toMatchObject({ ok: true }));
    const [row] = await sql`SELECT count(*)::int AS keys FROM api_keys WHERE account_id = 'acc_a'`;
    expect(row).toEqual({ keys: 0 });
    expect(await store.accountsToClear()).toEqual([]);
  }, 30_000);

  test("whose erasure stops half-way is without keys and work at once, and another process ends it", async () => {
    await whileChanging(FULL, async () => expect(await erase()).toMatchObject({ ok: true }));
    expect(await left()).toEqual({ said: MANY + 300, live: 0, deleted: 300 });
    expect([
      await store.findKey("first acc_a"),
      await store.findAccountByMailbox("acc_a@example.com"),
    ]).toEqual([null, null]);
    await clearErased(processes.two);
    expect(await left()).toEqual({ said: 0, live: 0, deleted: 300 });
    expect(await store.accountsToClear()).toEqual([]);
  }, 30_000);
});
