import { expect, test } from "bun:test";
import { createSchedule, nextDelayMs } from "../../src/directory/sync/schedule.ts";
import type { SyncOutcome } from "../../src/directory/sync/syncer.ts";

const failed = (retryAfterMs: number | null = null): SyncOutcome => ({
  kind: "failed",
  reason: "",
  shown: "",
  retryAfterMs,
});
const refused: SyncOutcome = { kind: "refused", reason: "" };

test("waits the interval with a jitter of 20 %", () => {
  expect(nextDelayMs(refused, 0, { intervalMs: 1000, random: () => 0 })).toBe(800);
  expect(nextDelayMs(refused, 0, { intervalMs: 1000, random: () => 0.999 })).toBeCloseTo(1200, -1);
});

test("backs off with full jitter, doubling, to a bound", () => {
  const most = (failures: number, intervalMs: number) =>
    nextDelayMs(failed(), failures, { intervalMs, random: () => 1 });
  expect([1, 2, 3, 4].map((failures) => most(failures, 60_000))).toEqual([2000, 4000, 8000, 16_000]);
  expect(most(50, 60_000)).toBe(300_000);
  expect(most(50, 86_400_000)).toBe(900_000);
  expect(nextDelayMs(failed(), 9, { intervalMs: 60_000, random: () => 0 })).toBe(100);
});

test("never retries before the upstream's Retry-After", () => {
  expect(nextDelayMs(failed(120_000), 1, { intervalMs: 1000, random: () => 0 })).toBe(120_000);
});

test("runs one sync at a time, and none after it is stopped", async () => {
  let running = 0;
  let syncs = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const schedule = createSchedule({
    intervalMs: 1000,
    random: () => 0.5,
    wait: () => Promise.resolve(),
    async sync() {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      syncs += 1;
      if (syncs === 5) {
        schedule.stop();
        resolve();
      }
      return refused;
    },
  });
  schedule.start({ atOnce: true });
  await done;
  await Promise.resolve();
  expect(syncs).toBe(5);
});
