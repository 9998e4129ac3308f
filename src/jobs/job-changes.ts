import type { JobChange, JobPort } from "../store/job-port.ts";
import type { JobRecord, JobStatus } from "../store/job-records.ts";

/** Changes the state of jobs and reports each change. Returns null, and changes nothing, where the state was another. */
export type JobChanges = {
  readonly change: (
    job: Pick<JobRecord, "jobId">,
    from: readonly JobStatus[],
    to: JobChange,
  ) => Promise<JobRecord | null>;
  /** Resumes a paused job. */
  readonly resume: (job: Pick<JobRecord, "jobId" | "startedAt">) => Promise<JobRecord | null>;
};

export function createJobChanges(
  store: Pick<JobPort, "changeJob">,
  changed: (job: JobRecord) => void,
): JobChanges {
  const change: JobChanges["change"] = async ({ jobId }, from, to) => {
    const after = await store.changeJob(jobId, from, to);
    if (after !== null) changed(after);
    return after;
  };
  return {
    change,
    resume(job) {
      const status = job.startedAt === null ? "queued" : "running";
      return change(job, ["paused"], { status, statusReason: null });
    },
  };
}
