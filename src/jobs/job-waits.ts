import type { Clock } from "../platform/clock.ts";

/** Jobs that are kept out of the queue for a time, though they have chunks to do. */
export type JobWaits = {
  /** Keeps a job out of the queue until the next reconciliation. */
  readonly backOff: (jobId: string) => void;
  /** Keeps a job out of the queue until its second look-up is due. */
  readonly lookUpLater: (jobId: string) => void;
  /** Whether the second look-up of a job is not due yet. */
  readonly isLater: (jobId: string) => boolean;
  /** Whether a job is kept out of the queue, by either. */
  readonly isKeptOut: (jobId: string) => boolean;
  /** Ends all back-offs, and the waits that are due. */
  readonly expire: () => void;
};

/** `lookUpAgainMs` is the wait before a second look-up. */
export function createJobWaits(clock: Clock, lookUpAgainMs: number): JobWaits {
  const resting = new Set<string>();
  /** The end of each wait, on the monotonic clock. */
  const laterMs = new Map<string, number>();
  return {
    backOff: (jobId) => void resting.add(jobId),
    lookUpLater: (jobId) => void laterMs.set(jobId, clock.monotonic() + lookUpAgainMs),
    isLater: (jobId) => laterMs.has(jobId),
    isKeptOut: (jobId) => resting.has(jobId) || laterMs.has(jobId),
    expire() {
      resting.clear();
      for (const [jobId, ms] of laterMs) if (ms <= clock.monotonic()) laterMs.delete(jobId);
    },
  };
}
