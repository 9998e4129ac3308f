import { expect, test } from "bun:test";
import { createChargeLane, type Waiting } from "../../src/billing/charge-lane.ts";

const ENTRY = { accountId: "acc_a", planPeriodId: 1, at: 0, endpoint: "/v1/x", units: 1, calls: 1 };

/** A lane whose groups are answered by hand. */
function openLane(
  openCalls: () => number,
  pause: (ms: number) => Promise<void> = () => Promise.resolve(),
  monotonic: () => number = () => 0,
) {
  const groups: { readonly size: number; readonly answer: () => void }[] = [];
  let seen = Promise.withResolvers<void>();
  const lane = createChargeLane({
    clock: { now: () => 0, monotonic },
    groupMax: 100,
    openCalls,
    writeGroup: (group) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      groups.push({ size: group.length, answer: resolve });
      seen.resolve();
      return promise;
    },
    fail: () => undefined,
    pause,
  });
  const waiting: Waiting = {
    ...{ entry: ENTRY, paidFor: { reply: null, chunk: null }, untilMs: Number.POSITIVE_INFINITY },
    ...{ hold: { settle: () => undefined }, resolve: () => undefined, reject: () => undefined },
  };
  return {
    push: (count: number) => {
      for (let n = 0; n < count; n += 1) lane.push(waiting);
    },
    /** The size of the next group, once it is on its way. */
    next: async () => {
      if (groups.length === 0) await seen.promise;
      seen = Promise.withResolvers();
      const group = groups.shift();
      if (group === undefined) throw new Error("no group");
      return group;
    },
    drained: lane.drained,
    waiting: lane.waiting,
  };
}

test("charges that arrive while a group is written are the next group", async () => {
  const { push, next, drained, waiting } = openLane(() => 0);
  push(1);
  const first = await next();
  push(5);
  push(2);
  expect([first.size, waiting()]).toEqual([1, 7]);
  first.answer();
  const second = await next();
  expect(second.size).toBe(7);
  second.answer();
  await drained();
});

test("a group waits for open calls, so that groups are few and large", async () => {
  const { push, next, drained } = openLane(
    () => 40,
    async () => push(29),
  );
  push(1);
  const group = await next();
  expect(group.size).toBe(30);
  group.answer();
  await drained();
});

test("sequential calls of one caller never wait for others", async () => {
  let pauses = 0;
  const { push, next, drained } = openLane(
    () => 1,
    async () => {
      pauses += 1;
    },
  );
  for (let call = 0; call < 3; call += 1) {
    push(1);
    const group = await next();
    expect(group.size).toBe(1);
    group.answer();
    await drained();
  }
  expect(pauses).toBe(0);
});

test("groups are spaced where charges arrive in close succession, and only there", async () => {
  let nowMs = 100;
  const pauses: number[] = [];
  const { push, next, drained } = openLane(
    () => 40,
    async (ms) => {
      pauses.push(ms);
    },
    () => nowMs,
  );
  for (const [charges, tookMs] of [
    [7, 10],
    [7, 3],
    [3, 3],
    [2, 3],
    [9, 20],
    [19, 3],
    [1, 1],
  ] as const) {
    push(charges);
    const group = await next();
    expect(group.size).toBe(charges);
    nowMs += tookMs;
    group.answer();
    await drained();
  }
  // Charges in a millisecond were 0, 0, 0.7, 1, 0.67, 3 (but 20 ms ago) and 0.95 when they began.
  expect(pauses).toEqual([1, 1, 1, 5, 1, 1, 1]);
});

test("a spaced group begins at once when it has nearly all open calls", async () => {
  let open = 8;
  let nowMs = 100;
  const { push, next, drained } = openLane(
    () => open,
    () => (nowMs < 104 ? Promise.resolve() : new Promise(() => undefined)),
    () => nowMs,
  );
  push(8);
  (await next()).answer();
  await drained();
  nowMs = 101;
  push(8);
  const dense = await next();
  nowMs = 104;
  open = 40;
  push(38);
  dense.answer();
  await Promise.resolve();
  push(1);
  const last = await next();
  expect(last.size).toBe(39);
  last.answer();
  await drained();
});
