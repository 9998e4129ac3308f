import { expect, test } from "bun:test";
import { createPace, GAP_MAX_MS } from "../../src/jobs/pace.ts";

const { signal } = new AbortController();

/** A pace on a clock that only its pauses and the test move. */
function openPace() {
  let nowMs = 0;
  let callsWaitMs: number | null = null;
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += Math.min(10, endMs - nowMs);
      if (callsWaitMs !== null) pace.observe(callsWaitMs);
    }
  };
  const pace = createPace({ clock: { monotonic: () => nowMs }, pause: async (ms) => pass(ms) });
  return {
    /** Calls that wait so long, one every 10 ms, for a time and from then on. */
    wait(waitMs: number, forMs: number): void {
      callsWaitMs = waitMs;
      pass(forMs);
    },
    quiet(ms: number): void {
      callsWaitMs = null;
      pass(ms);
    },
    /** How long the second of two chunks waits. */
    async gap(): Promise<number> {
      await pace.turn(signal);
      const beganMs = nowMs;
      await pace.turn(signal);
      return nowMs - beganMs;
    },
  };
}

test("chunks begin at once where no call waits", async () => {
  const { gap, quiet } = openPace();
  expect(await gap()).toBe(0);
  quiet(60_000);
  expect(await gap()).toBe(0);
});

test("beside calls chunks begin far apart until these are seen to wait no longer for them", async () => {
  const { gap, wait } = openPace();
  wait(4, 20);
  const first = await gap();
  expect(first).toBeGreaterThan(100);
  expect(await gap()).toBeLessThan(first);
  wait(4, 1_000);
  expect(await gap()).toBe(0);
});

test("chunks begin at once beside calls that wait for a database which is far away", async () => {
  const { gap, wait } = openPace();
  wait(80, 5_000);
  expect(await gap()).toBe(0);
});

test("chunks begin the further apart the longer calls wait longer than they need", async () => {
  const { gap, wait } = openPace();
  wait(4, 1_000);
  expect(await gap()).toBe(0);
  wait(40, 300);
  const first = await gap();
  expect(first).toBeGreaterThan(20);
  wait(40, 300);
  expect(await gap()).toBeGreaterThan(first);
});

test("chunks begin now and then, however long calls wait", async () => {
  const { gap, wait } = openPace();
  wait(4, 100);
  wait(3_000, 9_000);
  const found = await gap();
  expect(found).toBeGreaterThan(100);
  expect(found).toBeLessThanOrEqual(GAP_MAX_MS);
});

test("chunks begin at once again when calls wait no longer than they need, and without calls", async () => {
  const { gap, wait, quiet } = openPace();
  wait(4, 100);
  wait(100, 1_500);
  wait(4, 1_500);
  expect(await gap()).toBe(0);
  wait(100, 1_500);
  quiet(1_500);
  expect(await gap()).toBe(0);
});

test("a chunk that waits for its turn gives up by its signal", async () => {
  let nowMs = 0;
  const pace = createPace({ clock: { monotonic: () => nowMs } });
  for (; nowMs < 2_000; nowMs += 10) pace.observe(nowMs === 0 ? 1 : 500);
  await pace.turn(signal);
  const stop = new AbortController();
  const turn = pace.turn(stop.signal);
  stop.abort();
  await expect(turn).rejects.toThrow();
});
