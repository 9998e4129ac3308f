import { type JobRecord, STOPPABLE } from "./job-records.ts";

/** What the deletion of a job depends on. */
export type DeletedJob = Pick<JobRecord, "jobId" | "status" | "deletedAt">;

/** A change of the jobs of an erased account, of one or more. */
export type JobDeletion = { readonly jobIds: readonly string[]; readonly values: Partial<JobRecord> };

/** Returns the changes by which jobs of an erased account are deleted at a time, with what was said about them. */
export function jobDeletions(jobs: readonly DeletedJob[], at: number): readonly JobDeletion[] {
  const kept = jobs.filter(({ deletedAt }) => deletedAt === null);
  const stoppable = kept.filter(({ status }) => STOPPABLE.includes(status));
  const deleted = jobs.filter(({ deletedAt }) => deletedAt !== null);
  const nothing = { name: null, webhookUrl: null };
  const deletions = [
    deletionOf(stoppable, { status: "cancelling", statusReason: "by_operator" }),
    deletionOf(kept, { ...nothing, deletedAt: at, expiresAt: at }),
    deletionOf(deleted, nothing),
  ];
  return deletions.filter(({ jobIds }) => jobIds.length > 0);
}

function deletionOf(jobs: readonly DeletedJob[], values: Partial<JobRecord>): JobDeletion {
  return { jobIds: jobs.map(({ jobId }) => jobId), values };
}
