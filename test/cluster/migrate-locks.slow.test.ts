import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { asOpenError } from "../../src/store/postgres/connection/postgres-error.ts";
import { MIGRATIONS, migrate } from "../../src/store/postgres/migrations.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { StoreOpenError } from "../../src/store/storage-error.ts";
import { NOON, signUp } from "../store/store-conformance.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };
const LOOK_EVERY_MS = 5;
/** The tables are those that a charge writes to. */
const NEXT = [
  ...MIGRATIONS,
  {
    name: "9999_next",
    sql: `ALTER TABLE accounts ADD COLUMN next_column text;
--> statement-breakpoint
ALTER TABLE usage_days ADD COLUMN next_column text;`,
  },
];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no migration under load is tested", () => {});
}

describe.if(isPostgresInstalled)("a migration whose table another session locks", () => {
  let server: PostgresServer;
  let resources: AsyncDisposableStack;
  let store: SharedStore;
  let sql: SQL;
  let holder: SQL;
  let migrating: SQL;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    const url = await server.createDatabase();
    const connect = () => resources.adopt(new SQL(url, { max: 1 }), (each) => each.close({ timeout: 0 }));
    [sql, holder, migrating] = [connect(), connect(), connect()];
    const clock = { now: () => NOON, monotonic: () => performance.now() };
    store = resources.adopt(await openSharedStore({ url, clock }), (each) => each.close());
    await signUp(store, "acc_a");
    await holder`BEGIN`;
    await holder`LOCK TABLE usage_days IN ACCESS SHARE MODE`;
  });
  afterEach(() => resources?.disposeAsync());

  async function isWaiting(): Promise<boolean> {
    const [row] = await sql`
      SELECT count(*)::int AS waiting FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted`;
    return row.waiting > 0;
  }

  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await Bun.sleep(LOOK_EVERY_MS);
  };

  test("lets calls pass repeatedly, none of which fails, and is done once the table is free", async () => {
    const planPeriodId = (await store.readMonth("acc_a"))?.planPeriods[0]?.planPeriodId ?? 0;
    const entry = { accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/x", units: 0, calls: 1 };
    const admissions = [{ entry, reply: null, chunk: null, rate: null }];
    let charged = 0;
    let isOver = false;
    const calls = (async () => {
      while (!isOver) {
        const sequence = charged + 1;
        await store.admit({ lane: "calls", sequence, admissions, others: [], keptAt: null }, RULES);
        charged += 1;
      }
    })();
    const migrated = migrate(migrating, NOON, NEXT);
    for (let tries = 0; tries < 3; tries += 1) {
      await until(isWaiting);
      const before = charged;
      await until(async () => !(await isWaiting()));
      await until(async () => charged > before + 1);
    }
    await holder`COMMIT`;
    await migrated;
    isOver = true;
    await calls;
    expect((await store.readMonth("acc_a"))?.planPeriods[0]?.calls).toBe(charged);
    const added = await sql`SELECT FROM information_schema.columns WHERE column_name = 'next_column'`;
    expect(added.length).toBe(2);
  }, 30_000);

  test("begins again where the server ends it, as its process was held up, and is done", async () => {
    await holder`COMMIT`;
    await migrating`SET idle_in_transaction_session_timeout = 100`;
    const slow = `SELECT pg_sleep(0.2);
--> statement-breakpoint
CREATE TABLE next_table (n integer);`;
    const migrated = migrate(migrating, NOON, [...MIGRATIONS, { name: "9999_slow", sql: slow }], 2);
    await until(
      async () => (await sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`).length > 0,
    );
    // This process stands still until after the statement has ended, for longer than the server waits.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    await migrated;
    expect(await sql`SELECT FROM next_table`).toHaveLength(0);
  });

  test("reports a table that is locked too long, and has changed nothing", async () => {
    const refused = migrate(migrating, NOON, NEXT, 2).catch((error: unknown) => error);
    // As the start says it, which has sentences of its own for what a server throws.
    const said = asOpenError(await refused);
    expect(said).toBeInstanceOf(StoreOpenError);
    expect(String(said)).toContain("Another session keeps a table");
    const added = await sql`SELECT FROM information_schema.columns WHERE column_name = 'next_column'`;
    expect(added.length).toBe(0);
    await holder`COMMIT`;
    await migrate(migrating, NOON, NEXT, 1);
  });
});
