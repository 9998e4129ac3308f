import type { Clock } from "../platform/clock.ts";
import type { JobPort, JobRecord } from "../store/job-port.ts";
import { type Job, jobOf } from "./job.ts";
import { createJobChanges } from "./job-changes.ts";
import type { JobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";
import type { JobWaits } from "./job-waits.ts";

type JobName = Pick<JobRecord, "accountId" | "jobId">;

/** The steps of a job from its first chunk to its end: its state in the store, and its place in the queue. */
export type JobSteps = {
  /** Returns the job as it runs: the first chunk starts it. */
  readonly start: (record: JobRecord) => Promise<Job>;
  readonly pause: (job: JobName, reason: string) => Promise<void>;
  /** Lets a paused job go on. */
  readonly resume: (job: JobRecord) => Promise<void>;
  readonly fail: (job: JobName, reason: string) => Promise<void>;
  /** Where all chunks of a job are done, has failed rows looked up once more, or ends it. */
  readonly finishRound: (jobId: string) => Promise<void>;
  /** Takes a job out of the queue that does not go on by itself. */
  readonly hold: (job: JobName) => void;
};

export type JobStepsDependencies = {
  readonly store: Pick<JobPort, "changeJob" | "endRound" | "findJob">;
  readonly queue: JobQueue;
  readonly waits: JobWaits;
  readonly gaps: JobGaps;
  readonly clock: Clock;
  readonly changed: (job: JobRecord) => void;
  /** How long the results of a job are kept that has ended. */
  readonly retentionMs: number;
};

export function createJobSteps(dependencies: JobStepsDependencies): JobSteps {
  const { store, queue, waits, gaps, clock, changed, retentionMs } = dependencies;
  const { change, resume } = createJobChanges(store, changed);

  const leaveQueue = ({ accountId, jobId }: JobName) => queue.remove(accountId, jobId);

  function ended() {
    const finishedAt = clock.now();
    return { finishedAt, expiresAt: finishedAt + retentionMs };
  }

  function hold(job: JobName): void {
    leaveQueue(job);
    gaps.forget(job.jobId);
  }

  return {
    hold,
    async start(record) {
      if (record.status !== "queued") return jobOf(record);
      const startedAt = record.startedAt ?? clock.now();
      const started = { status: "running", statusReason: null, startedAt } as const;
      return jobOf((await change(record, ["queued"], started)) ?? record);
    },
    async pause(job, reason) {
      hold(job);
      await change(job, ["queued", "running"], { status: "paused", statusReason: reason });
    },
    async resume(job) {
      const resumed = await resume(job);
      if (resumed !== null) queue.add(job.accountId, job.jobId);
    },
    async fail(job, reason) {
      leaveQueue(job);
      const failed = { ...ended(), status: "failed", statusReason: reason } as const;
      await change(job, ["queued", "running", "paused"], failed);
    },
    async finishRound(jobId) {
      const { changed: after, isWaiting } = await store.endRound(jobId, ended());
      if (after !== null) changed(after);
      // The second round begins. Failures are kept for a while: asked at once, nobody would look anything up.
      if (after !== null && isWaiting && !after.isTest) {
        waits.lookUpLater(jobId);
        leaveQueue(after);
      } else if (isWaiting && !waits.isWaiting(jobId)) {
        // Rows of a chunk that is done in parts, or chunks that were put back.
        const job = after ?? (await store.findJob(jobId));
        if (job !== null) queue.add(job.accountId, jobId);
      } else if (after !== null) leaveQueue(after);
    },
  };
}
