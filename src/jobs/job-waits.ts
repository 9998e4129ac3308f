import type { Clock } from "../platform/clock.ts";

/** Jobs that wait outside the queue, though they have chunks to do. */
export type JobWaits = {
  /** Has a job wait for room until the jobs are looked at again. */
  readonly rest: (jobId: string) => void;
  /** Has a job wait until it looks up again what has failed. */
  readonly lookUpLater: (jobId: string) => void;
  /** Whether a job looks up again later. */
  readonly isLater: (jobId: string) => boolean;
  readonly isWaiting: (jobId: string) => boolean;
  /** Ends the waits for room, and those whose time has come. */
  readonly expire: () => void;
};

/** `lookUpAgainMs` is how long a job waits that looks up again. */
export function createJobWaits(clock: Clock, lookUpAgainMs: number): JobWaits {
  const resting = new Set<string>();
  /** Until when they wait, on the monotonic clock. */
  const laterMs = new Map<string, number>();
  return {
    rest: (jobId) => void resting.add(jobId),
    lookUpLater: (jobId) => void laterMs.set(jobId, clock.monotonic() + lookUpAgainMs),
    isLater: (jobId) => laterMs.has(jobId),
    isWaiting: (jobId) => resting.has(jobId) || laterMs.has(jobId),
    expire() {
      resting.clear();
      for (const [jobId, ms] of laterMs) if (ms <= clock.monotonic()) laterMs.delete(jobId);
    },
  };
}
