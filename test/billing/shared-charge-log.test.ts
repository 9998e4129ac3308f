import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PaidFor, UnitHold } from "../../src/billing/charge-log.ts";
import { rateLimited } from "../../src/billing/rate-refusal.ts";
import { createSharedChargeLog } from "../../src/billing/shared-charge-log.ts";
import type { AdmissionGroup, AdmissionOutcome } from "../../src/store/admit-port.ts";
import { NoRoomError, RowsHeldError, StorageError, UnsettledError } from "../../src/store/storage-error.ts";
import { finishedChunk } from "../store/job-conformance.ts";

const CALL = { accountId: "acc_a", planPeriodId: 1, at: 0, endpoint: "/v1/x", units: 1, calls: 1 };
const FOR_A_CALL: PaidFor = { reply: null, chunk: null };
const HOLD: UnitHold = { settle: () => undefined };

/** A log whose database takes a fixed time for each group, and with those that are apart what `apartWaits` takes. */
function openLog(
  tookMs: number,
  isHeld: (accountId: string) => boolean = () => false,
  Refusal: new (message: string) => Error = RowsHeldError,
  outcome: AdmissionOutcome = "charged",
  apartWaits: () => Promise<void> = async () => {},
) {
  let nowMs = 0;
  const waits: number[] = [];
  const lanes: AdmissionGroup["lane"][] = [];
  const groups: { readonly apart: string | undefined; readonly accountIds: readonly string[] }[] = [];
  const recorded: string[] = [];
  const log = createSharedChargeLog({
    store: {
      admit: async ({ lane, apart, admissions, others }) => {
        lanes.push(lane);
        nowMs += tookMs;
        const accountIds = [...admissions.map(({ entry }) => entry), ...others].map((each) => each.accountId);
        groups.push({ apart, accountIds: admissions.map(({ entry }) => entry.accountId) });
        if (apart !== undefined) await apartWaits();
        if (accountIds.some(isHeld)) throw new Refusal("a row is held");
        return { outcomes: admissions.map(() => outcome), units: new Map() };
      },
      record: async ({ sums }) => {
        if (sums.some(({ accountId }) => isHeld(accountId))) throw new RowsHeldError("a row is held");
        recorded.push(...sums.map(({ accountId }) => accountId));
      },
      isOpen: () => true,
    },
    clock: { now: () => nowMs, monotonic: () => nowMs },
    openCalls: () => 0,
    entriesPerCommitMax: 10,
    onCallsWait: (ms) => waits.push(ms),
    timeToKeep: () => null,
    rateOf: () => null,
    rateRefusal: () => rateLimited(1, { requestsPerSecond: 10, burst: 20 }),
    refresh: () => {},
    quotaRefusal: () => {
      throw new Error("nothing is refused");
    },
  });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { log, waits, lanes, groups, recorded, advance };
}

test("a call above the rate over all nodes is refused with the rate of its plan", async () => {
  const { log } = openLog(0, undefined, undefined, "rate");
  const refused = await log.append(CALL, HOLD, FOR_A_CALL).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({
    code: "rate_limited",
    message: "Too many requests: the limit is 10 calls a second and 20 at once.",
    retryAfterSeconds: 1,
  });
});

test("the time that the store takes is reported for each group of calls, and not for chunks", async () => {
  const { log, waits, lanes } = openLog(30);
  const calls = [log.append(CALL, HOLD, FOR_A_CALL), log.append(CALL, HOLD, FOR_A_CALL)];
  await Promise.all(calls);
  expect([lanes, waits]).toEqual([["calls"], [30]]);
  const chunk = finishedChunk("job_1", { n: 0, attempt: 1 });
  await log.append({ ...CALL, calls: 0 }, HOLD, { reply: null, chunk });
  expect([lanes, waits]).toEqual([["calls", "chunks"], [30]]);
});

test("an account with locked rows is written apart until it is charged, and delays no other", async () => {
  let isHeld = true;
  // Longer than a call waits: a group that is tried again would be too late.
  const { log, groups, recorded } = openLog(5_000, (accountId) => isHeld && accountId === "acc_held");
  const charge = (accountId: string) =>
    log.append({ ...CALL, accountId }, HOLD, FOR_A_CALL).then(
      () => "charged",
      (error: Error) => error.message,
    );
  const accountIds = ["acc_a", "acc_held", "acc_b"];
  log.appendLater({ ...CALL, accountId: "acc_held", units: 0 });
  expect(await Promise.all(accountIds.map(charge))).toEqual(["charged", "a row is held", "charged"]);
  expect(groups).toEqual([
    { apart: undefined, accountIds },
    ...accountIds.map((accountId) => ({ apart: accountId, accountIds: [accountId] })),
  ]);
  groups.length = 0;
  log.appendLater({ ...CALL, accountId: "acc_a", units: 0 });
  expect(await Promise.all(accountIds.map(charge))).toEqual(["charged", "a row is held", "charged"]);
  expect(groups).toContainEqual({ apart: undefined, accountIds: ["acc_a", "acc_b"] });
  isHeld = false;
  expect(await charge("acc_held")).toBe("charged");
  groups.length = 0;
  expect(await Promise.all(accountIds.map(charge))).toEqual(["charged", "charged", "charged"]);
  expect(groups).toEqual([{ apart: undefined, accountIds }]);
  expect([await log.flush(), recorded]).toEqual([true, []]);
});

test("calls of no units of an account with locked rows wait, and those of others do not", async () => {
  let isHeld = true;
  const { log, recorded } = openLog(1, (accountId) => isHeld && accountId === "acc_held");
  for (const accountId of ["acc_a", "acc_held"])
    log.appendLater({ ...CALL, accountId, units: 0, planPeriodId: accountId === "acc_a" ? 1 : 2 });
  expect(await log.flush()).toBe(false);
  expect(await log.flush()).toBe(false);
  expect(recorded).toEqual(["acc_a"]);
  isHeld = false;
  expect([await log.flush(), recorded]).toEqual([true, ["acc_a", "acc_held"]]);
});

test.each([
  ["is away is tried again until its calls are due an answer", StorageError, 4],
  ["has a full disk is refused at once", NoRoomError, 1],
])("a group that the database refuses as it %s", async (_, Refusal, tries) => {
  const { log, groups } = openLog(1_000, () => true, Refusal);
  await expect(log.append(CALL, HOLD, FOR_A_CALL)).rejects.toBeInstanceOf(Refusal);
  expect(groups).toHaveLength(tries);
});

test("what waits for an account is written while charges come in without end, and others' rows are held", async () => {
  const held = Promise.withResolvers<void>();
  const isHeld = (accountId: string) => accountId === "acc_held";
  const { log, groups, advance } = openLog(0, isHeld, undefined, "charged", () => held.promise);
  const refused = log.append({ ...CALL, accountId: "acc_held" }, HOLD, FOR_A_CALL);
  let isAsked = true;
  const charge = async () => {
    while (isAsked) await log.append({ ...CALL, accountId: "acc_b" }, HOLD, FOR_A_CALL);
  };
  const charging = [charge(), charge()];
  while (!groups.some(({ apart }) => apart === "acc_held")) await nextTurn();
  log.appendLater({ ...CALL, units: 0 });
  expect(await log.flush("acc_a")).toBe(true);
  isAsked = false;
  advance(4_000);
  held.resolve();
  await Promise.all(charging);
  await expect(refused).rejects.toBeInstanceOf(RowsHeldError);
  await log.drain();
});

test("a charge of an account that is apart is refused in time, also where it waits for others that are", async () => {
  const held = Promise.withResolvers<void>();
  const { log, groups, advance } = openLog(
    0,
    () => true,
    undefined,
    "charged",
    () => held.promise,
  );
  const accountIds = ["acc_a", "acc_b", "acc_c", "acc_d", "acc_e"];
  const charges = accountIds.map((accountId) => log.append({ ...CALL, accountId }, HOLD, FOR_A_CALL));
  const last = charges.pop();
  const rest = Promise.allSettled(charges);
  while (groups.length < accountIds.length) await nextTurn();
  advance(4_000);
  await expect(last).rejects.toThrow("the database takes no charges");
  held.resolve();
  await rest;
  expect(groups.map(({ apart }) => apart)).toEqual([undefined, "acc_a", "acc_b", "acc_c", "acc_d"]);
});

test("calls of no units that may have been written with a group do not count again", async () => {
  const { log, recorded } = openLog(5_000, () => true, UnsettledError);
  log.appendLater({ ...CALL, units: 0 });
  await expect(log.append(CALL, HOLD, FOR_A_CALL)).rejects.toBeInstanceOf(UnsettledError);
  expect([await log.flush(), recorded]).toEqual([true, []]);
});

test("charges that may have been written are not sent again under another number, whatever fails then", async () => {
  const failures = [new UnsettledError("the commit was not answered"), new Error("a bug")];
  const { log, groups } = openLog(0, () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return false;
  });
  const charges = [log.append(CALL, HOLD, FOR_A_CALL), log.append(CALL, HOLD, FOR_A_CALL)];
  const outcomes = await Promise.all(charges.map((charge) => charge.catch((error: unknown) => error)));
  for (const outcome of outcomes) expect(outcome).toBeInstanceOf(UnsettledError);
  expect(groups.map(({ accountIds }) => accountIds.length)).toEqual([2, 2]);
});

test("an account that is set apart again while its charges are on their way has one group at a time", async () => {
  let isHeld = true;
  const answers: (() => void)[] = [];
  const answered = () => new Promise<void>((resolve) => void answers.push(resolve));
  const { log, groups } = openLog(0, () => isHeld, undefined, "charged", answered);
  const charge = () => log.append(CALL, HOLD, FOR_A_CALL);
  const isOnItsWay = async (nth: number) => {
    while (answers.length < nth) await nextTurn();
  };
  const first = charge();
  await isOnItsWay(1);
  const second = charge();
  isHeld = false;
  answers[0]?.();
  await first;
  await isOnItsWay(2);
  isHeld = true;
  const third = charge();
  while (groups.length < 4) await nextTurn();
  isHeld = false;
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(groups.map(({ apart }) => apart)).toEqual([undefined, "acc_a", "acc_a", undefined]);
  answers[1]?.();
  await second;
  await isOnItsWay(3);
  answers[2]?.();
  await third;
  await log.drain();
});
