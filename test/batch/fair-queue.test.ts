import { describe, expect, mock, test } from "bun:test";
import {
  BACKGROUND_WEIGHT,
  createFairQueue,
  INTERACTIVE_WEIGHT,
  type Lease,
  QueueFullError,
} from "../../src/batch/fair-queue.ts";

const PATIENCE_MS = 30;
/** Long enough to tell one patience from two on a busy machine. */
const LONG_PATIENCE_MS = 1_000;

/** A queue on a clock of the test's, and tenants that always have work of a given length. */
function contest(threads: number, waitingMax = 100, patienceMs = PATIENCE_MS) {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const queue = createFairQueue({ threads, waitingMax, patienceMs, clock });
  const running: { readonly endMs: number; readonly lease: Lease; readonly tenant: string }[] = [];
  const usedMs: { [tenant: string]: number } = {};

  async function work(tenant: string, tookMs: number, weight: number, isRetry = false): Promise<void> {
    const lease = await queue.acquire({ tenant, weight }, { isRetry });
    running.push({ endMs: nowMs + tookMs, lease, tenant });
    usedMs[tenant] = (usedMs[tenant] ?? 0) + tookMs;
  }

  /** Ends what is due next, on a clock that has passed to then. */
  async function endNext(): Promise<string> {
    running.sort((one, other) => one.endMs - other.endMs);
    const next = running.shift();
    if (next === undefined) throw new Error("nothing runs");
    nowMs = Math.max(nowMs, next.endMs);
    next.lease.release();
    await settle();
    return next.tenant;
  }
  return { queue, work, endNext, running, usedMs, pass: (ms: number) => (nowMs += ms) };
}

/** Lets everything run that waits for nothing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

describe("threads", () => {
  test("all go to one tenant where nobody else waits", async () => {
    const { queue, work, running } = contest(3);
    for (let count = 0; count < 5; count += 1) void work("one", 10, INTERACTIVE_WEIGHT);
    await settle();
    expect([running.length, queue.running(), queue.waiting()]).toEqual([3, 3, 2]);
  });

  test.each([1, 2, 4])(
    "%d of them are shared by time, whatever the tasks take and however many wait",
    async (threads) => {
      const { work, endNext, usedMs } = contest(threads);
      for (let count = 0; count < 60; count += 1) void work("long", 100, INTERACTIVE_WEIGHT);
      await settle();
      for (let count = 0; count < 600; count += 1) {
        void work("short", 10, INTERACTIVE_WEIGHT).catch(() => undefined);
        await endNext();
        if ((usedMs.long ?? 0) >= 3000) break;
      }
      const share = (usedMs.short ?? 0) / (usedMs.long ?? 1);
      expect(share).toBeGreaterThan(0.7);
      expect(share).toBeLessThan(1.3);
    },
  );

  test("a tenant with one task beside one with many is next but for what runs", async () => {
    const { work, endNext } = contest(1);
    for (let count = 0; count < 50; count += 1) void work("many", 10, INTERACTIVE_WEIGHT);
    await settle();
    for (let count = 0; count < 5; count += 1) await endNext();
    void work("one", 10, INTERACTIVE_WEIGHT);
    expect([await endNext(), await endNext()]).toEqual(["many", "one"]);
  });

  test("go to work that a caller waits for eight times as long as to work that nobody waits for, and never to one alone", async () => {
    const { work, endNext, usedMs } = contest(1, 2000);
    for (let count = 0; count < 900; count += 1) {
      void work("caller", 10, INTERACTIVE_WEIGHT);
      void work("job", 10, BACKGROUND_WEIGHT);
    }
    await settle();
    for (let count = 0; count < 900; count += 1) await endNext();
    expect((usedMs.caller ?? 0) / (usedMs.job ?? 1)).toBeCloseTo(8, 0);
  });

  test("are not saved up for by a tenant that pauses", async () => {
    const { work, endNext, usedMs } = contest(1);
    for (let count = 0; count < 90; count += 1) void work("steady", 10, INTERACTIVE_WEIGHT);
    await settle();
    for (let count = 0; count < 40; count += 1) await endNext();
    for (let count = 0; count < 9; count += 1) void work("late", 10, INTERACTIVE_WEIGHT);
    const before = usedMs.steady ?? 0;
    for (let count = 0; count < 16; count += 1) await endNext();
    expect((usedMs.steady ?? 0) - before).toBeGreaterThanOrEqual(60);
  });
});

describe("a tenant whose work breaks threads", () => {
  test("has one thread, and leaves one to the others however many such tenants there are", async () => {
    const { queue, work, running } = contest(3);
    for (const tenant of ["bad", "worse", "worst"]) {
      queue.suspect(tenant);
      for (let count = 0; count < 3; count += 1) void work(tenant, 1000, INTERACTIVE_WEIGHT);
    }
    await settle();
    expect(running.map(({ tenant }) => tenant).sort()).toEqual(["bad", "worse"]);
    void work("good", 10, INTERACTIVE_WEIGHT);
    await settle();
    expect(running.map(({ tenant }) => tenant)).toContain("good");
  });

  test("has all threads again half a minute later", async () => {
    const { queue, work, running, pass } = contest(3);
    queue.suspect("bad");
    pass(30_001);
    for (let count = 0; count < 3; count += 1) void work("bad", 10, INTERACTIVE_WEIGHT);
    await settle();
    expect(running.length).toBe(3);
  });

  test("retries one thing at a time", async () => {
    const { work, running } = contest(3);
    for (let count = 0; count < 3; count += 1) void work("bad", 10, INTERACTIVE_WEIGHT, true);
    await settle();
    expect(running.length).toBe(1);
  });
});

describe("work that takes long", () => {
  test("goes on while nobody else waits, and is overdue once another tenant does", async () => {
    const { queue, pass } = contest(1);
    const lease = await queue.acquire({ tenant: "long", weight: 1 });
    const same = queue.acquire({ tenant: "long", weight: 1 });
    const overdue = Promise.withResolvers<Error>();
    const isOverdue = mock(overdue.resolve);
    lease.onOverdue(isOverdue);
    pass(PATIENCE_MS * 2);
    await Bun.sleep(PATIENCE_MS * 3);
    expect(isOverdue).not.toHaveBeenCalled();
    const other = queue.acquire({ tenant: "other", weight: 1 });
    await overdue.promise;
    lease.release();
    await Promise.all([other, same].map(async (each) => (await each).release()));
    expect(queue.running()).toBe(0);
  });

  test("is overdue after its patience, also where what ran before it was watched", async () => {
    const { queue, pass } = contest(1, 100, LONG_PATIENCE_MS);
    const first = await queue.acquire({ tenant: "first", weight: 1 });
    const waiting = ["second", "third"].map((tenant) => queue.acquire({ tenant, weight: 1 }));
    pass(10);
    first.release();
    const second = await Promise.race(waiting);
    const overdue = Promise.withResolvers<Error>();
    second.onOverdue(overdue.resolve);
    // The look that the first one asked for comes a millisecond too early for the second.
    pass(LONG_PATIENCE_MS - 1);
    await Bun.sleep(LONG_PATIENCE_MS);
    pass(1);
    const tooLate = Bun.sleep(LONG_PATIENCE_MS / 2).then(() => "twice its patience");
    expect(await Promise.race([overdue.promise, tooLate])).toBeInstanceOf(Error);
    second.release();
    await Promise.all(waiting.map(async (each) => (await each).release()));
  });
});

describe("the queue for a thread", () => {
  test("is at its limit for the tenant that fills it, and open to another", async () => {
    const { queue } = contest(1, 3);
    const lease = await queue.acquire({ tenant: "full", weight: 1 });
    const waiting = Array.from({ length: 3 }, () => queue.acquire({ tenant: "full", weight: 1 }));
    await expect(queue.acquire({ tenant: "full", weight: 1 })).rejects.toBeInstanceOf(QueueFullError);
    const other = queue.acquire({ tenant: "other", weight: 1 });
    expect(queue.waiting()).toBe(4);
    lease.release();
    await Promise.all([other, ...waiting].map(async (each) => (await each).release()));
    expect([queue.waiting(), queue.running()]).toEqual([0, 0]);
  });

  test("is left by a task that gives up", async () => {
    const { queue } = contest(1);
    const lease = await queue.acquire({ tenant: "one", weight: 1 });
    const gone = new AbortController();
    const waiting = queue.acquire({ tenant: "two", weight: 1 }, { signal: gone.signal });
    gone.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    expect(queue.waiting()).toBe(0);
    lease.release();
  });
});
