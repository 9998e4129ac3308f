import type { JobChange } from "./job-port.ts";
import type { JobRecord, JobStatus } from "./job-records.ts";

/** States in which chunks of a job are claimed. */
export const RUNNING: readonly JobStatus[] = ["queued", "running"];

/** States in which a job has ended before all of its rows were looked up again whose first look-up failed. */
export const BROKEN_OFF: readonly JobStatus[] = ["cancelled", "failed"];

/** Chunks of a job that are not done. */
export type UnfinishedChunks = { readonly waiting: number; readonly claimed: number };

/** How a job ends whose chunks are done; before that, a first round puts the chunks back that have unchecked rows. */
export type EndOfJob = {
  readonly change: JobChange & Required<Pick<JobChange, "status">>;
  readonly isFirstRound: boolean;
};

/** Returns how a job ends now, or null where it goes on as it is. */
export function endOfJob(
  job: JobRecord,
  { waiting, claimed }: UnfinishedChunks,
  { finishedAt, expiresAt }: { readonly finishedAt: number; readonly expiresAt: number },
): EndOfJob | null {
  const ended = { finishedAt, expiresAt };
  if (job.status === "cancelling") {
    if (claimed > 0) return null;
    // What its caller deleted meanwhile is erased at once.
    const erasedFrom = job.deletedAt ?? expiresAt;
    const change = {
      ...ended,
      status: "cancelled",
      statusReason: "by_caller",
      expiresAt: erasedFrom,
    } as const;
    return { change, isFirstRound: false };
  }
  if (!RUNNING.includes(job.status) || waiting + claimed > 0) return null;
  const change = { ...ended, status: "completed", statusReason: null } as const;
  return { change, isFirstRound: job.round === 1 };
}
