import type { Clock } from "../platform/clock.ts";
import type { JobInState } from "../store/job-records.ts";

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
  /**
   * Ends all back-offs, and begins the waits of second look-ups that another process began; to be called with all jobs
   * that have not ended.
   */
  readonly seen: (jobs: readonly JobInState[]) => void;
};

export type SecondLookUp = {
  /** The shortest wait before a second look-up. */
  readonly waitMs: number;
  /** When the failed look-ups of a job have expired, on the monotonic clock: before, they would be found again. */
  readonly failuresExpireMs: (jobId: string) => number;
};

/** Holds a number for each job in its second round. */
export function createJobWaits(
  clock: Pick<Clock, "monotonic">,
  { waitMs, failuresExpireMs }: SecondLookUp,
): JobWaits {
  const resting = new Set<string>();
  /** The end of each wait, on the monotonic clock. */
  const laterMs = new Map<string, number>();

  function lookUpLater(jobId: string): void {
    laterMs.set(jobId, Math.max(clock.monotonic() + waitMs, failuresExpireMs(jobId)));
  }

  const isLater = (jobId: string) => (laterMs.get(jobId) ?? 0) > clock.monotonic();

  return {
    lookUpLater,
    isLater,
    backOff: (jobId) => void resting.add(jobId),
    isKeptOut: (jobId) => resting.has(jobId) || isLater(jobId),
    seen(jobs) {
      resting.clear();
      const again = new Set(
        jobs.flatMap(({ jobId, round, isTest }) => (round > 1 && !isTest ? [jobId] : [])),
      );
      for (const jobId of laterMs.keys()) if (!again.has(jobId)) laterMs.delete(jobId);
      for (const jobId of again) if (!laterMs.has(jobId)) lookUpLater(jobId);
    },
  };
}
