import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createChargeLog } from "../../src/billing/charge-log.ts";
import type { ChargeEntry } from "../../src/store/account-records.ts";
import type { Durability } from "../../src/store/billing-port.ts";
import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";
import { until } from "../support/caller.ts";

const ENTRY: ChargeEntry = {
  accountId: "acc_1",
  planPeriodId: 1,
  at: 0,
  endpoint: "/v1/email/verify",
  units: 1,
  calls: 1,
};
const PAID_FOR = { reply: null, chunk: null };
const HOLD = { settle: () => undefined };

/** A log on a disk that brings a group there when the test says so, by the test's own clock. */
function openLog() {
  const world = { nowMs: 0, openCalls: 4 };
  const groups: number[] = [];
  const syncs: (() => void)[] = [];
  const durabilities: Durability[] = [];
  /** What the next commits fail with. */
  const failures: Error[] = [];
  const log = createChargeLog({
    store: {
      record: ({ sums }, durability) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        groups.push(sums.reduce((sum, entry) => sum + entry.units, 0));
        durabilities.push(durability);
      },
      sync: () => new Promise((resolve) => syncs.push(resolve)),
      isOpen: () => true,
    },
    monotonic: () => world.nowMs,
    openCalls: () => world.openCalls,
    entriesPerCommitMax: 1_000,
    timeToKeep: () => null,
    quotaMarks: () => [],
  });
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };
  const charge = async (charges: number, atMs: number) => {
    world.nowMs = atMs;
    for (let n = 0; n < charges; n += 1) void log.append(ENTRY, HOLD, PAID_FOR);
    await turns();
  };
  const syncNext = async () => {
    syncs.shift()?.();
    await turns();
  };
  return { world, groups, durabilities, syncs, failures, log, charge, syncNext };
}

test("small groups of charges that come in one upon the other are a while apart, unless all calls wait", async () => {
  const { world, groups, charge, syncNext } = openLog();
  await charge(2, 10);
  await charge(2, 10.2);
  await syncNext();
  expect(groups).toEqual([2, 2]);
  await charge(2, 10.4);
  expect(groups).toEqual([2, 2]);
  await charge(1, 10.9);
  expect(groups).toEqual([2, 2, 3]);
  await syncNext();
  world.openCalls = 2;
  await charge(2, 11);
  expect(groups).toEqual([2, 2, 3, 2]);
});

test("a few charges that come in now and then, while the disk is at work, are one commit when it is ready", async () => {
  const { world, groups, charge, syncNext } = openLog();
  world.openCalls = 2;
  for (const atMs of [10, 11, 12]) await charge(1, atMs);
  expect(groups).toEqual([1]);
  await syncNext();
  expect(groups).toEqual([1, 2]);
});

test("larger groups of charges are not held apart", async () => {
  const { groups, charge, syncNext } = openLog();
  await charge(8, 10);
  await charge(8, 10.1);
  await syncNext();
  await charge(8, 10.2);
  expect(groups).toEqual([8, 8, 8]);
});

const FREE = { ...ENTRY, units: 0 };
const unsettled = () => new UnsettledError("the log did not reach the disk");

test("where the sync of a commit fails, calls of no units are written with the next one, and nothing is thrown", () => {
  const { groups, failures, log } = openLog();
  failures.push(unsettled());
  log.appendLater(FREE);
  expect([log.flush(), log.flush(), groups]).toEqual([false, true, [0]]);
});

test("calls of no units that a disk did not take are written with its next commit", () => {
  const { groups, failures, log } = openLog();
  failures.push(new StorageError("the disk is full"));
  log.appendLater(FREE);
  expect([log.flush(), log.flush(), groups]).toEqual([false, true, [0]]);
});

test("what a read is to see is committed at once, and its charges are answered once the disk has them", async () => {
  const { durabilities, groups, log, charge, syncNext } = openLog();
  const seen: string[] = [];
  const hold = { settle: () => void seen.push("counted") };
  void log.append(ENTRY, hold, PAID_FOR).then(() => seen.push("answered"));
  log.appendLater(FREE);
  expect([log.flush("acc_1"), groups, durabilities, seen]).toEqual([true, [1], ["with_sync"], ["counted"]]);
  await charge(0, 10);
  expect(seen).toEqual(["counted"]);
  await syncNext();
  expect(seen).toEqual(["counted", "answered"]);
});

test("calls of no units that a read had committed are brought to the disk where no charge follows", async () => {
  const { durabilities, syncs, log, charge } = openLog();
  log.appendLater(FREE);
  expect([log.flush("acc_1"), durabilities, syncs.length]).toEqual([true, ["with_sync"], 0]);
  await until("sync", () => syncs.length === 1);
  await charge(0, 10);
  expect([durabilities, syncs.length]).toEqual([["with_sync"], 1]);
});

test("for invoices and for the end all that waits is on the disk at once", () => {
  const { durabilities, log } = openLog();
  void log.append(ENTRY, HOLD, PAID_FOR);
  expect(log.flush()).toBe(true);
  log.appendLater(FREE);
  expect([log.drain(), durabilities]).toEqual([true, ["at_once", "at_once"]]);
});

test("where the sync of a commit fails, all charges of the group are of an unknown fate, and none is written again", async () => {
  const { groups, failures, log } = openLog();
  // Until the first is made good nothing is committed.
  failures.push(unsettled(), new StorageError("unsettled"), new StorageError("unsettled"));
  const isOnDisk: boolean[] = [];
  const hold = { settle: (_: ChargeEntry, is: boolean) => void isOnDisk.push(is) };
  const charges = [log.append(ENTRY, hold, PAID_FOR), log.append(ENTRY, hold, PAID_FOR)];
  log.appendLater(FREE);
  log.flush();
  for (const charge of charges) await expect(charge).rejects.toBeInstanceOf(UnsettledError);
  failures.length = 0;
  // What SQLite does not show is not counted, until a power cut brings it back.
  expect([log.flush(), groups, isOnDisk]).toEqual([true, [0], [false, false]]);
});
