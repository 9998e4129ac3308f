import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createChargeLog } from "../../src/billing/charge-log.ts";
import type { ChargeEntry } from "../../src/store/account-records.ts";

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
  const log = createChargeLog({
    store: {
      record: ({ sums }) => {
        groups.push(sums.reduce((sum, entry) => sum + entry.units, 0));
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
  return { world, groups, charge, syncNext };
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
