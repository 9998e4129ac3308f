import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { clearErasedAccount } from "../../src/accounts/account-erasure.ts";
import { createOperators, type OperatorAsk } from "../../src/accounts/operator-commands.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { AccountErasedError } from "../../src/store/account-port.ts";
import { openBeside } from "../../src/store/sqlite/open.ts";
import { handClock, openAccounting, signUp } from "../billing/accounting.ts";
import { jobRecord } from "../store/job-conformance.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

test("the key and the month of an erased account are gone with its erasure, however long its jobs take to clear", async () => {
  const accounting = openAccounting({ clock: handClock("2026-11-01T00:00:00Z") });
  const { accountId, apiKey } = signUp(accounting);
  for (let n = 0; n < 300; n += 1)
    accounting.store.createJob(jobRecord(`job_${n}`, { accountId, status: "completed" }), null, 1);
  expect([accounting.keyRing.find(apiKey), accounting.meter.ledger(accountId)]).not.toContain(null);
  const found: unknown[] = [];
  const clearErasedJobs: typeof accounting.store.clearErasedJobs = (...step) => {
    found.push(accounting.keyRing.find(apiKey));
    expect(() => accounting.meter.ledger(accountId)).toThrow(AccountErasedError);
    return accounting.store.clearErasedJobs(...step);
  };
  const store = { ...accounting.store, clearErasedJobs };
  const clearErased = (erased: string) => clearErasedAccount(store, erased);
  const operators = createOperators({ ...accounting, store, clearErased });
  expect(await operators.run({ action: "erase", account: accountId }, "root")).toMatchObject({ ok: true });
  expect(found).toEqual([null, null, null, null]);
});

test("the ended keys of an erased account, of which there may be very many, go in steps", async () => {
  const accounting = openAccounting({ clock: handClock("2026-11-01T00:00:00Z") });
  const { accountId } = signUp(accounting);
  for (let n = 0; n < 250; n += 1) {
    accounting.clock.advance(100);
    accounting.accounts.rotateKey(accountId, { overlapSeconds: 0 });
  }
  const removed: number[] = [];
  const clearErasedKeys: typeof accounting.store.clearErasedKeys = (...step) => {
    removed.push(accounting.store.clearErasedKeys(...step));
    return removed.at(-1) ?? 0;
  };
  const store = { ...accounting.store, clearErasedKeys };
  const clearErased = (erased: string) => clearErasedAccount(store, erased);
  const operators = createOperators({ ...accounting, store, clearErased });
  expect(await operators.run({ action: "erase", account: accountId }, "root")).toMatchObject({ ok: true });
  expect(removed).toEqual([100, 100, 50]);
  expect(accounting.store.listKeys(accountId, 0)).toEqual([]);
  expect(accounting.store.accountsToClear()).toEqual([]);
});

/** The lines of errors and bugs. */
const errorsOf = (lines: ReturnType<TestServer["logged"]>) => lines.filter(({ level }) => level === 50);

const accountOf = async (server: TestServer, key: string): Promise<string> =>
  (await jsonOf<{ account_id: string }>(await server.call("/v1/account", { key }))).account_id;

/** The database of a running server, as another process has it. */
function databaseOf({ dataDir }: { readonly dataDir: string }): Database {
  const database = new Database(join(dataDir, "assay.db"));
  database.run("PRAGMA busy_timeout = 5000");
  return database;
}

test("a key that a server still knows is 401 for what would outlast the erasure of its account", async () => {
  await using server = await startTestServer();
  const key = await server.signUp();
  const accountId = await accountOf(server, key);
  const database = databaseOf(server);
  // As another process erases it.
  database.run("UPDATE accounts SET erased_at = 1 WHERE account_id = ?", [accountId]);
  database.run("UPDATE plan_periods SET ends_at = period_start WHERE account_id = ?", [accountId]);
  const refused = async (path: string, body?: unknown) =>
    refusalOf(await server.call(path, body === undefined ? { key } : { key, body }));
  expect([
    await refused("/v1/account/keys", { name: "new" }),
    await refused("/v1/account/keys/rotate", {}),
    await refused("/v1/webhooks", { url: "https://hooks.example.com/" }),
    await refused("/v1/jobs", { items: ["ann@good.com"] }),
    await refused("/v1/account"),
  ]).toEqual(Array(5).fill("401 bad_key"));
  const counts = database.query(
    "SELECT (SELECT count(*) FROM api_keys) + (SELECT count(*) FROM webhooks) AS n",
  );
  expect(counts.get()).toEqual({ n: 1 });
  database.close(true);
  expect(errorsOf(server.logged())).toEqual([]);
});

/** Some seconds of clearing. */
const MANY = 10_000;

test("an account with very many jobs keeps no other command waiting, and is cleared to the end by the next start", async () => {
  using folder = temporaryFolder("erasure");
  const dataDir = folder.path;
  const left = (database: Database) =>
    database.query("SELECT count(*) AS n FROM jobs WHERE name IS NOT NULL").get() as { n: number };
  let logged: TestServer["logged"];
  {
    await using server = await startTestServer({ dataDir });
    logged = server.logged;
    const accountId = await accountOf(server, await server.signUp());
    const otherKey = await server.signUp();
    const other = await accountOf(server, otherKey);
    const database = databaseOf(server);
    database.run(
      `INSERT INTO jobs (job_id, account_id, kind, name, status, created_at, options, chunk_count, rows, distinct_rows,
        units_per_item, processed, counts, units_charged, round, is_test)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
      SELECT 'job_' || n, ?, 'email', 'customers of Ann', 'completed', n, '{}', 0, 0, 0, 1, 0, '{}', 0, 1, 0 FROM numbers`,
      [accountId],
    );
    const beside = openBeside({ dataDir, clock: systemClock });
    const ask = (command: OperatorAsk) =>
      beside.askCommand({ askedAt: Date.now(), operator: "root", command: JSON.stringify(command) });
    const [erasure, suspension] = [
      ask({ action: "erase", account: accountId }),
      ask({ action: "suspend", account: other }),
    ];
    await until("the suspension", () => beside.commandOutcome(suspension) !== null);
    expect(beside.commandOutcome(erasure)).toContain('"ok":true');
    expect(left(database).n).toBeGreaterThan(0);
    expect(await refusalOf(await server.call("/v1/account", { key: otherKey }))).toBe("401 bad_key");
    beside.close();
    database.close(true);
  }
  expect(errorsOf(logged())).toEqual([]);
  await using server = await startTestServer({ dataDir });
  const database = databaseOf(server);
  await until("the end of the clearing", () => left(database).n === 0, 60_000);
  database.close(true);
}, 90_000);
