import { expect, test } from "bun:test";
import { createJobWaits } from "../../src/jobs/job-waits.ts";
import type { JobRecord } from "../../src/store/job-records.ts";

const jobOf = (jobId: string, round: number, isTest = false) => ({ jobId, round, isTest }) as JobRecord;

function waitsAt(failuresExpireMs: Readonly<Record<string, number>> = {}) {
  const clock = { nowMs: 1_000 };
  const waits = createJobWaits(
    { monotonic: () => clock.nowMs },
    { waitMs: 5_000, failuresExpireMs: (jobId) => failuresExpireMs[jobId] ?? 0 },
  );
  return { clock, waits };
}

test("a second look-up waits five seconds, or until the last failure has expired", () => {
  const { clock, waits } = waitsAt({ job_failing: 26_000 });
  for (const jobId of ["job_1", "job_failing"]) waits.lookUpLater(jobId);
  const areLater = () => ["job_1", "job_failing"].map(waits.isLater);
  clock.nowMs = 5_999;
  expect(areLater()).toEqual([true, true]);
  clock.nowMs = 6_000;
  expect(areLater()).toEqual([false, true]);
  clock.nowMs = 26_000;
  expect(areLater()).toEqual([false, false]);
});

test("a second round that another process began waits here too, once", () => {
  const { clock, waits } = waitsAt();
  const jobs = [jobOf("job_first", 1), jobOf("job_second", 2), jobOf("job_test", 2, true)];
  waits.seen(jobs);
  expect(jobs.map(({ jobId }) => waits.isLater(jobId))).toEqual([false, true, false]);
  clock.nowMs = 6_000;
  waits.seen(jobs);
  expect(waits.isLater("job_second")).toBe(false);
});

test("a back-off ends when the jobs are seen, and a wait goes on", () => {
  const { waits } = waitsAt();
  waits.backOff("job_1");
  waits.lookUpLater("job_2");
  expect(waits.isKeptOut("job_1")).toBe(true);
  waits.seen([jobOf("job_1", 1), jobOf("job_2", 2)]);
  expect([waits.isKeptOut("job_1"), waits.isKeptOut("job_2")]).toEqual([false, true]);
});
