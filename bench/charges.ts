import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/platform/clock.ts";
import { openStore } from "../src/store/sqlite/open.ts";
import { openAccounts } from "./accounts.ts";
import type { Subject } from "./subject.ts";

/** Calls that are under way at once, each of which waits until its own charge is on disk. */
const CALLERS = 1000;
const SINGLE_ROWS = 100;
const ENDPOINT = "/v1/email/verify";

export type ChargeSubjects = AsyncDisposable & { readonly metered: Subject; readonly singleRows: Subject };

/** Charges through the meter, and what they would cost as one transaction each, in one folder of one disk. */
export function createChargeSubjects(): ChargeSubjects {
  const stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "assay-bench-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  return {
    metered: meteredSubject(join(folder, "metered"), stack),
    singleRows: singleRowsSubject(join(folder, "single.sqlite"), stack),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function meteredSubject(dataDir: string, stack: AsyncDisposableStack): Subject {
  const clock = systemClock;
  const store = openStore({ dataDir, clock });
  stack.defer(() => store.close());
  const { meter, accounts, signUp } = openAccounts(store, clock);
  stack.defer(() => meter.close());
  const account = signUp("owner@gmail.com");

  async function charge(): Promise<number> {
    const reservation = meter.reserve(account, 1);
    try {
      await reservation.record({ endpoint: ENDPOINT, units: 1 });
      return reservation.chargedUnits();
    } finally {
      reservation.release();
    }
  }
  async function turn(): Promise<number> {
    const charged = await Promise.all(Array.from({ length: CALLERS }, charge));
    return charged.reduce((total, units) => total + units, 0);
  }
  return {
    group: "metering",
    name: "charge a unit, durable, through the meter",
    calls: CALLERS,
    turn,
    async fault() {
      const before = accounts.view(account.accountId).usage.units;
      const charged = await turn();
      const onDisk = accounts.view(account.accountId).usage.units - before;
      return charged === CALLERS && onDisk === CALLERS ? null : `${CALLERS} charges came to ${onDisk} units`;
    },
  };
}

function singleRowsSubject(path: string, stack: AsyncDisposableStack): Subject {
  const database = new Database(path, { create: true, strict: true });
  stack.defer(() => database.close());
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run(
    "CREATE TABLE charges (id INTEGER PRIMARY KEY, account TEXT NOT NULL, units INTEGER NOT NULL) STRICT",
  );
  const insert = database.prepare("INSERT INTO charges (account, units) VALUES (?, ?)");
  const rows = database.prepare<{ rows: number }, []>("SELECT count(*) AS rows FROM charges");
  const countRows = () => rows.get()?.rows ?? 0;
  const turn = () => {
    let changes = 0;
    for (let n = 0; n < SINGLE_ROWS; n += 1) changes += insert.run("acc_1", 1).changes;
    return changes;
  };
  return {
    group: "metering",
    name: "insert one row in a transaction, synchronous=FULL",
    calls: SINGLE_ROWS,
    turn,
    fault() {
      const before = countRows();
      turn();
      return countRows() - before === SINGLE_ROWS ? null : "rows are missing";
    },
  };
}
