import { jobView } from "../../jobs/job-view.ts";
import type { JobRecord } from "../../store/job-records.ts";

/** Returns the reply with a job, and its address in `Location`. */
export function jobReply(status: number, job: JobRecord, now: number) {
  return {
    status,
    headers: { Location: `/v1/jobs/${job.jobId}` },
    body: JSON.stringify(jobView(job, now)),
  };
}
