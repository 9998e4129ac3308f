import { expect, test } from "bun:test";
import { createPace, GAP_MAX_MS } from "../../src/jobs/pace.ts";
import { gapReader } from "../../src/jobs/shared-gap.ts";

const { signal } = new AbortController();

/** A pace on a clock that only its pauses and the test move. */
function openPace(random = () => 0) {
  let nowMs = 0;
  let callsWaitMs: number | null = null;
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += Math.min(10, endMs - nowMs);
      if (callsWaitMs !== null) pace.observe(callsWaitMs);
    }
  };
  const pace = createPace({
    clock: { monotonic: () => nowMs },
    pause: async (ms) => pass(ms),
    random,
  });
  /** How long the second of two that take a turn waits. */
  async function between(turn: typeof pace.turn): Promise<number> {
    await turn(signal);
    const beganMs = nowMs;
    await turn(signal);
    return nowMs - beganMs;
  }
  return {
    /** Calls that wait `waitMs`, one every 10 ms, for `forMs` and from then on. */
    wait(waitMs: number, forMs: number): void {
      callsWaitMs = waitMs;
      pass(forMs);
    },
    /** The same beside chunks. */
    async work(waitMs: number, forMs: number): Promise<void> {
      callsWaitMs = waitMs;
      for (const endMs = nowMs + forMs; nowMs < endMs; pass(10)) await pace.turn(signal);
    },
    /** The same beside an input that is read. */
    async read(waitMs: number, forMs: number): Promise<void> {
      callsWaitMs = waitMs;
      for (const endMs = nowMs + forMs; nowMs < endMs; pass(10)) await pace.turnToRead(signal);
    },
    quiet(ms: number): void {
      callsWaitMs = null;
      pass(ms);
    },
    gap: () => between(pace.turn),
    seen: gapReader(pace.gap),
    hurry: pace.hurry,
    readingGap: () => between(pace.turnToRead),
  };
}

test("chunks begin at once where no call waits", async () => {
  const { gap, quiet } = openPace();
  expect(await gap()).toBe(0);
  quiet(60_000);
  expect(await gap()).toBe(0);
});

test("beside calls chunks begin far apart, until the calls do not wait longer because of them", async () => {
  const { gap, wait } = openPace();
  wait(4, 20);
  const first = await gap();
  expect(first).toBeGreaterThan(100);
  expect(await gap()).toBeLessThan(first);
  wait(4, 1_000);
  expect(await gap()).toBe(0);
});

test("chunks begin at once beside calls that wait for a remote database", async () => {
  const { gap, work } = openPace();
  await work(80, 5_000);
  expect(await gap()).toBe(0);
});

test("the longer calls wait beyond their own time, the further apart chunks begin", async () => {
  const { gap, wait, work } = openPace();
  await work(4, 1_000);
  expect(await gap()).toBe(0);
  wait(40, 300);
  const first = await gap();
  expect(first).toBeGreaterThan(20);
  wait(40, 300);
  expect(await gap()).toBeGreaterThan(first);
});

test("chunks begin at a least pace, however long calls wait", async () => {
  const { gap, wait } = openPace();
  wait(4, 100);
  wait(3_000, 9_000);
  const found = await gap();
  expect(found).toBeGreaterThan(100);
  expect(found).toBeLessThanOrEqual(GAP_MAX_MS);
});

test("chunks begin at once again when calls do not wait, and without calls", async () => {
  const { gap, wait, quiet, work } = openPace();
  await work(4, 100);
  await work(100, 1_500);
  await work(4, 1_500);
  expect(await gap()).toBe(0);
  wait(100, 1_500);
  quiet(1_500);
  expect(await gap()).toBe(0);
});

test("a job that starts beside calls begins slowly, whatever calls waited before it", async () => {
  const { gap, wait, work } = openPace();
  await work(4, 1_000);
  expect(await gap()).toBe(0);
  wait(4, 3_000);
  expect(await gap()).toBeGreaterThan(100);
});

test("rows are read at a sixteenth of the interval of chunks, and at once where no call waits", async () => {
  const { gap, wait, quiet, readingGap } = openPace();
  expect(await readingGap()).toBe(0);
  wait(4, 100);
  wait(3_000, 1_500);
  const found = await readingGap();
  expect(found).toBeGreaterThanOrEqual(GAP_MAX_MS / 16);
  expect(found).toBeLessThan(GAP_MAX_MS / 8);
  expect(await gap()).toBe(GAP_MAX_MS);
  quiet(4_000);
  expect(await readingGap()).toBe(0);
});

test("the waits of calls beside an input that is read count for its chunks", async () => {
  const { gap, read } = openPace();
  await read(4, 2_000);
  expect(await gap()).toBe(0);
  const other = openPace();
  await other.read(4, 100);
  await other.read(100, 1_500);
  expect(await other.gap()).toBeGreaterThan(100);
});

test("nodes that start together do not begin their chunks in step", async () => {
  const found: number[] = [];
  for (const random of [() => 0, () => 0.5, () => 1]) {
    const { gap, wait } = openPace(random);
    wait(4, 100);
    wait(3_000, 1_500);
    found.push(await gap());
  }
  expect(found).toEqual([GAP_MAX_MS, (GAP_MAX_MS * 7) / 8, (GAP_MAX_MS * 3) / 4]);
});

test("threads see the gap, that there are calls and for how long, and that somebody waits", async () => {
  const { gap, seen, wait, quiet, hurry, work } = openPace();
  const unobserved = seen();
  expect(unobserved.notes).toBe(0);
  wait(4, 100);
  wait(3_000, 1_500);
  const beside = seen();
  expect(beside.gapMs).toBe(await gap());
  expect(beside.notes).toBeGreaterThan(unobserved.notes);
  expect(beside.holdsMs).toBe(3_100);
  await work(4, 5_000);
  expect(seen().gapMs).toBeLessThan(100);
  quiet(2_500);
  await gap();
  expect(seen()).toMatchObject({ gapMs: GAP_MAX_MS, holdsMs: 0, isHurried: false });
  using _hurried = hurry();
  expect(seen().isHurried).toBe(true);
});

test("a chunk that waits for its turn is aborted by its signal", async () => {
  let nowMs = 0;
  const pace = createPace({ clock: { monotonic: () => nowMs } });
  for (; nowMs < 2_000; nowMs += 10) pace.observe(nowMs === 0 ? 1 : 500);
  await pace.turn(signal);
  const stop = new AbortController();
  const turn = pace.turn(stop.signal);
  stop.abort();
  await expect(turn).rejects.toThrow();
});
