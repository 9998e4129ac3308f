import type { JobPort } from "../store/job-port.ts";
import type { ClaimedWork, JobInState } from "../store/job-records.ts";
import type { JobUnits } from "./job-units.ts";

/** Unfinished chunks that precede finished ones. Until they are done, the later results of a paused job cannot be read. */
export type JobGaps = {
  /** Claims the next chunk of a paused job that precedes a finished one; null where none can be done now. */
  readonly claim: (job: JobInState) => Promise<ClaimedWork | null>;
  /** Looks for gaps anew; to be called when a job is paused. */
  readonly forget: (jobId: string) => void;
  /** Forgets all jobs but the paused ones; to be called with all jobs that have not ended. */
  readonly seen: (jobs: readonly JobInState[]) => void;
};

/** After this many searches without a gap, one a second, none can appear: no process holds a chunk for longer. */
const CLEAN_LOOKS_MAX = 30;

/** Holds a number for each paused job. */
export function createJobGaps(dependencies: {
  readonly store: Pick<JobPort, "claimGap">;
  readonly units: Pick<JobUnits, "areLeft">;
}): JobGaps {
  const { store, units } = dependencies;
  const cleanLooks = new Map<string, number>();
  return {
    async claim(job) {
      const { jobId } = job;
      const clean = cleanLooks.get(jobId) ?? 0;
      if (clean >= CLEAN_LOOKS_MAX || !(await units.areLeft(job))) return null;
      const claimed = await store.claimGap(jobId);
      cleanLooks.set(jobId, claimed === null ? clean + 1 : 0);
      return claimed;
    },
    forget: (jobId) => {
      cleanLooks.delete(jobId);
    },
    seen(jobs) {
      const paused = new Set(jobs.flatMap(({ jobId, status }) => (status === "paused" ? [jobId] : [])));
      for (const jobId of cleanLooks.keys()) if (!paused.has(jobId)) cleanLooks.delete(jobId);
    },
  };
}
