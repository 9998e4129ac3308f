import { setImmediate as nextTurn } from "node:timers/promises";
import type { FailedJobs, JobPort } from "../store/job-port.ts";

/** Jobs that are looked at after one reconciliation: each takes a transaction. */
const JOBS_AT_ONCE = 100;

/**
 * Returns what counts, some jobs in each call, the rows that were in work when a job failed: the former process may have
 * ended before it counted them. They are but numbers, and nobody's start waits for them. What throws is done again.
 */
export function createFormerFailures({
  store,
  finishIdle,
  isEnding,
}: {
  readonly store: Pick<JobPort, "failedJobs">;
  readonly finishIdle: (jobId: string) => Promise<void>;
  readonly isEnding: () => boolean;
}): () => Promise<void> {
  let after: FailedJobs["next"] = null;
  let isDone = false;
  return async () => {
    if (isDone || isEnding()) return;
    const { jobIds, next } = await store.failedJobs(after, JOBS_AT_ONCE);
    for (const jobId of jobIds) {
      if (isEnding()) return;
      await finishIdle(jobId);
      await nextTurn();
    }
    after = next;
    isDone = next === null;
  };
}
