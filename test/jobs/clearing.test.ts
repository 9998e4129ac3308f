import { expect, test } from "bun:test";
import { type Clearing, createClearing } from "../../src/jobs/clearing.ts";

/** A store whose clearing takes `tookMs`, on a clock that only its clearings and the rests between them move. */
function clearingOf(tookMs: number, outcomes: (boolean | Error)[] = []) {
  const begunAtMs: number[] = [];
  let nowMs = 1_000;
  const clearing: Clearing = createClearing({
    store: {
      clearErased() {
        begunAtMs.push(nowMs);
        nowMs += tookMs;
        const outcome = outcomes.shift() ?? true;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    },
    clock: { monotonic: () => nowMs },
    pause: async (ms) => {
      nowMs += ms;
    },
  });
  return { ...clearing, begunAtMs };
}

test("concurrent erasures are cleared together", async () => {
  const { clear, note, begunAtMs } = clearingOf(0);
  const calls = Array.from({ length: 50 }, async () => {
    note();
    await clear();
  });
  await Promise.all(calls);
  expect(begunAtMs).toHaveLength(1);
});

test("clearings take at most a tenth of the time, however often something is erased", async () => {
  const { clear, note, begunAtMs } = clearingOf(20);
  for (let round = 0; round < 5; round++) {
    note();
    await clear();
  }
  expect(begunAtMs).toEqual([1_000, 1_200, 1_400, 1_600, 1_800]);
});

test("without erasures the store is cleared at the start alone", async () => {
  const { clear, begunAtMs } = clearingOf(1);
  await clear();
  await clear();
  expect(begunAtMs).toHaveLength(1);
});

test("the next clearing makes up for one that was blocked or failed", async () => {
  const { clear, begunAtMs } = clearingOf(0, [false, new Error("the disk is full"), true]);
  await clear();
  await expect(clear()).rejects.toThrow("the disk is full");
  await clear();
  await clear();
  expect(begunAtMs).toHaveLength(3);
});

test("an erasure during a clearing is cleared by another one", async () => {
  const asked: PromiseWithResolvers<boolean>[] = [];
  const clearing = createClearing({
    store: {
      clearErased() {
        const one = Promise.withResolvers<boolean>();
        asked.push(one);
        begun.resolve();
        return one.promise;
      },
    },
    clock: { monotonic: () => 0 },
    pause: async () => {},
  });
  let begun = Promise.withResolvers<void>();
  const first = clearing.clear();
  await begun.promise;
  begun = Promise.withResolvers<void>();
  clearing.note();
  asked[0]?.resolve(true);
  await first;
  const second = clearing.clear();
  await begun.promise;
  asked[1]?.resolve(true);
  await second;
  expect(asked).toHaveLength(2);
});
