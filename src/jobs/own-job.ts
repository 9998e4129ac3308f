import { ApiError } from "../contract/errors.ts";
import type { JobPort } from "../store/job-port.ts";
import type { JobRecord } from "../store/job-records.ts";

/** Throws `not_found` for a job that the account does not have. */
export async function findOwnJob(
  store: Pick<JobPort, "findJob">,
  accountId: string,
  jobId: string,
): Promise<JobRecord> {
  const job = await store.findJob(jobId);
  if (job === null || job.accountId !== accountId || job.deletedAt !== null) {
    throw new ApiError("not_found", "The account has no such job.");
  }
  return job;
}
