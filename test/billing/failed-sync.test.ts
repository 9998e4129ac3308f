import { Database } from "bun:sqlite";
import { expect, mock, test } from "bun:test";
import { copyFileSync, fdatasync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isLogWhole } from "../../src/store/sqlite/connection/log-check.ts";
import type { SyncFile } from "../../src/store/sqlite/connection/log-sync.ts";
import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";
import { claimed, finishedChunk, startedJob } from "../store/job-conformance.ts";
import { until } from "../support/caller.ts";
import { type Accounting, charge, handClock, openAccounting, signUp, withDirectory } from "./accounting.ts";
import { checkBooks } from "./books.ts";

/** A disk whose syncs fail while `fails` is set, over the real one. */
function brokenDisk() {
  const disk = { fails: false, syncs: 0 };
  const syncFile: SyncFile = (file, done) => {
    disk.syncs += 1;
    if (disk.fails) queueMicrotask(() => done(new Error("EIO: i/o error, fdatasync")));
    else fdatasync(file, done);
  };
  return { disk, syncFile };
}

/** An account on a disk whose syncs end as the test says, by the functions in `syncs`. */
function openOnHeldDisk(root: string) {
  const dataDir = join(root, "data");
  const syncs: ((error: Error | null) => void)[] = [];
  const syncFile: SyncFile = (_, done) => void syncs.push(done);
  const accounting = openAccounting({ clock: handClock(), dataDir, syncFile });
  return { syncs, dataDir, accounting, accountId: signUp(accounting).accountId };
}

/** The units on disk of an account, as a power cut would leave the database file without its log. */
function unitsWithoutLog(dataDir: string, root: string): number {
  const copy = join(root, "copy");
  mkdirSync(copy, { recursive: true });
  copyFileSync(join(dataDir, "assay.db"), join(copy, "assay.db"));
  const database = new Database(join(copy, "assay.db"), { readonly: true });
  const row = database
    .query<{ units: number | null }, []>("SELECT sum(units) AS units FROM usage_events")
    .get();
  database.close(true);
  return row?.units ?? 0;
}

function emptyLog(dataDir: string): void {
  const database = new Database(join(dataDir, "assay.db"));
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close(true);
}

async function outcomeOf(work: Promise<void>): Promise<string> {
  try {
    await work;
    return "acknowledged";
  } catch (error) {
    if (error instanceof UnsettledError) return "unanswered";
    if (error instanceof StorageError) return "refused";
    throw error;
  }
}

/** Another connection that reads: while it does, the log cannot be emptied. */
function openReader(dataDir: string) {
  const reader = new Database(join(dataDir, "assay.db"));
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM accounts").get();
  return { end: () => reader.close(true) };
}

const unitsOf = (accounting: Accounting, accountId: string): number =>
  accounting.accounts.view(accountId).usage.units;

/** `unitsOf` would first have written all that waits. */
const unitsCommitted = ({ store }: Accounting): number =>
  store.eventUnits().reduce((total, { units }) => total + units, 0);

test("a charge whose log does not reach the disk is acknowledged only once it is in the database file", () =>
  withDirectory(async (root) => {
    const dataDir = join(root, "data");
    const { disk, syncFile } = brokenDisk();
    const accounting = openAccounting({ clock: handClock(), dataDir, syncFile });
    const { accountId } = signUp(accounting);
    emptyLog(dataDir);
    await charge(accounting, accountId, 5);
    expect(unitsWithoutLog(dataDir, root)).toBe(0);
    disk.fails = true;
    expect(await outcomeOf(charge(accounting, accountId, 7))).toBe("acknowledged");
    expect(unitsWithoutLog(dataDir, root)).toBe(12);
    accounting.store.close();
  }));

test("where both syncs fail, the call gets no answer, and nothing more is charged or acknowledged", () =>
  withDirectory(async (root) => {
    const dataDir = join(root, "data");
    const { disk, syncFile } = brokenDisk();
    const clock = handClock();
    const accounting = openAccounting({ clock, dataDir, syncFile });
    const { accountId } = signUp(accounting);
    const other = signUp(accounting).accountId;
    await charge(accounting, accountId, 5);
    const reader = openReader(dataDir);
    const running = accounting.meter.reserve({ accountId: other }, 3);
    disk.fails = true;
    expect(await outcomeOf(charge(accounting, accountId, 7))).toBe("unanswered");

    // The disk works again: a sync of the same log that succeeds proves nothing of what was dropped before.
    disk.fails = false;
    for (let count = 0; count < 5; count += 1) {
      clock.advance(1_000);
      expect(() => accounting.meter.reserve({ accountId }, 1)).toThrow(StorageError);
      expect(() => accounting.store.probe()).toThrow(StorageError);
      expect(() => signUp(accounting)).toThrow(StorageError);
    }
    const { syncs } = disk;
    expect(await outcomeOf(running.record({ endpoint: "/v1/email/verify", units: 3 }))).toBe("refused");
    expect(disk.syncs).toBe(syncs);
    expect(accounting.store.usageByEndpoint(other, "2026-11-01", "2026-11-30")).toEqual([]);

    reader.end();
    clock.advance(1_000);
    await running.record({ endpoint: "/v1/email/verify", units: 3 });
    running.release();
    await charge(accounting, accountId, 1);
    expect([unitsOf(accounting, accountId), unitsOf(accounting, other)]).toEqual([13, 3]);
    checkBooks(join(dataDir, "assay.db"), new Map(), (totals) => expect(totals.size).toBe(2));
    accounting.store.close();
  }));

test("a chunk is committed while another charge is being synced, and a failure of that sync acknowledges neither", () =>
  withDirectory(async (root) => {
    const { syncs, dataDir, accounting, accountId } = openOnHeldDisk(root);
    const { store } = accounting;
    await startedJob(store, "job_1", 1, accountId);
    const chunk = finishedChunk("job_1", await claimed(store, "job_1"));
    const first = outcomeOf(charge(accounting, accountId, 7));
    await until("sync of the charge", () => syncs.length === 1);
    const reservation = accounting.meter.reserve({ accountId }, 10, { isCall: false });
    const onCommit = mock();
    const second = outcomeOf(reservation.record({ endpoint: "/v1/jobs", units: 10 }, null, chunk, onCommit));
    await until("commit of the chunk", () => onCommit.mock.calls.length === 1);
    expect((await store.findJob("job_1"))?.unitsCharged).toBe(10);
    const reader = openReader(dataDir);
    expect(syncs).toHaveLength(1);
    syncs[0]?.(new Error("EIO: i/o error, fdatasync"));
    expect([await first, await second]).toEqual(["unanswered", "unanswered"]);
    expect(syncs).toHaveLength(1);
    reader.end();
    store.close();
  }));

test("at most one group is committed while another is being synced, and is synced next", () =>
  withDirectory(async (root) => {
    const { syncs, accounting, accountId } = openOnHeldDisk(root);
    const acknowledged: string[] = [];
    const chargeGroup = (name: string, charges: number) =>
      Promise.all(Array.from({ length: charges }, () => charge(accounting, accountId, 1))).then(
        () => void acknowledged.push(name),
      );
    const calls = [chargeGroup("first", 1)];
    await until("sync of the first", () => syncs.length === 1);
    calls.push(chargeGroup("second", 10));
    await until("commit of the second", () => unitsCommitted(accounting) === 11);
    calls.push(chargeGroup("third", 10));
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect([unitsCommitted(accounting), accounting.meter.waiting(), syncs.length]).toEqual([11, 20, 1]);
    expect(acknowledged).toEqual([]);
    syncs[0]?.(null);
    await calls[0];
    expect([acknowledged, syncs.length]).toEqual([["first"], 2]);
    await until("commit of the third", () => unitsCommitted(accounting) === 21);
    syncs[1]?.(null);
    await until("sync of the third", () => syncs.length === 3);
    await calls[1];
    expect(acknowledged).toEqual(["first", "second"]);
    syncs[2]?.(null);
    await Promise.all(calls);
    expect(accounting.meter.waiting()).toBe(0);
    accounting.store.close();
  }));

test("a failed sync acknowledges neither its own group nor the one that was committed meanwhile", () =>
  withDirectory(async (root) => {
    const { syncs, dataDir, accounting, accountId } = openOnHeldDisk(root);
    const first = outcomeOf(charge(accounting, accountId, 7));
    await until("sync of the first", () => syncs.length === 1);
    const others = Array.from({ length: 10 }, () => outcomeOf(charge(accounting, accountId, 1)));
    await until("commit of the others", () => unitsCommitted(accounting) === 17);
    const reader = openReader(dataDir);
    syncs[0]?.(new Error("EIO: i/o error, fdatasync"));
    expect(new Set([await first, ...(await Promise.all(others))])).toEqual(new Set(["unanswered"]));
    // That another sync succeeds would prove nothing.
    expect(syncs).toHaveLength(1);
    reader.end();
    accounting.store.close();
  }));

test("of 40 calls at once on a disk that fails and recovers, refused ones are not charged, acknowledged ones are", () =>
  withDirectory(async (root) => {
    for (const isRead of [false, true]) {
      const dataDir = join(root, `data-${isRead}`);
      const { disk, syncFile } = brokenDisk();
      const clock = handClock();
      const accounting = openAccounting({ clock, dataDir, syncFile });
      const { accountId } = signUp(accounting, "scale");
      await charge(accounting, accountId, 1);
      const reader = isRead ? openReader(dataDir) : null;
      const tally = new Map([["acknowledged", 1]]);
      for (let round = 0; round < 8; round += 1) {
        disk.fails = round % 3 === 1;
        if (round === 6) reader?.end();
        clock.advance(1_000);
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, () => outcomeOf((async () => charge(accounting, accountId, 1))())),
        );
        for (const outcome of outcomes) tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      }
      const acknowledged = tally.get("acknowledged") ?? 0;
      const unanswered = tally.get("unanswered") ?? 0;
      expect(unitsOf(accounting, accountId)).toBe(acknowledged + unanswered);
      expect(unanswered).toBe(isRead ? 5 : 0);
      expect(tally.get("refused") ?? 0).toBe(isRead ? 20 : 0);
      checkBooks(join(dataDir, "assay.db"), new Map(), (totals) =>
        expect(totals.get(accountId)?.units).toBe(acknowledged + unanswered),
      );
      accounting.store.close();
    }
  }));

test("a log that has lost a page is detected, whichever page it is", () =>
  withDirectory(async (dataDir) => {
    const accounting = openAccounting({ clock: handClock(), dataDir });
    const path = join(dataDir, "assay.db");
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 1);
    expect(isLogWhole(path)).toBe(true);
    const log = openSync(`${path}-wal`, "r+");
    for (const at of [40, 4_000, 9_000]) {
      const kept = Buffer.alloc(64);
      const bytes = await Bun.file(`${path}-wal`).bytes();
      kept.set(bytes.subarray(at, at + 64));
      writeSync(log, Buffer.alloc(64, 0xa5), 0, 64, at);
      expect(isLogWhole(path)).toBe(false);
      writeSync(log, kept, 0, 64, at);
      expect(isLogWhole(path)).toBe(true);
    }
    emptyLog(dataDir);
    expect(isLogWhole(path)).toBe(true);
    accounting.store.close();
  }));
