import type { JobChange, JobPort, JobRecord, JobStatus } from "../store/job-port.ts";

/** Changes of a job's state, with word of each. They return null, and do nothing, where it has left the state before. */
export type JobChanges = {
  readonly change: (
    job: Pick<JobRecord, "jobId">,
    from: readonly JobStatus[],
    to: JobChange,
  ) => Promise<JobRecord | null>;
  /** Lets a paused job go on. */
  readonly resume: (job: JobRecord) => Promise<JobRecord | null>;
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
