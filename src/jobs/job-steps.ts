import type { Clock } from "../platform/clock.ts";
import type { JobPort } from "../store/job-port.ts";
import { type JobInState, type JobRecord, STOPPABLE } from "../store/job-records.ts";
import { type Job, jobOf } from "./job.ts";
import { createJobChanges } from "./job-changes.ts";
import type { JobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";
import type { JobWaits } from "./job-waits.ts";

type JobName = Pick<JobRecord, "accountId" | "jobId">;

/** The changes of a job's state from its first chunk to its end, in the store and in the queue. */
export type JobSteps = {
  /** Starts a queued job with its first chunk; returns the running job. */
  readonly start: (record: JobRecord) => Promise<Job>;
  readonly pause: (job: JobName, reason: string) => Promise<void>;
  /** Resumes a paused job. */
  readonly resume: (job: JobInState) => Promise<void>;
  readonly fail: (job: JobName, reason: string) => Promise<void>;
  /** Once all chunks of a job are done: starts the second look-up of failed rows, or ends the job. */
  readonly finishRound: (jobId: string) => Promise<void>;
  /** Takes a job out of the queue until it is resumed. */
  readonly hold: (job: JobName) => void;
};

export type JobStepsDependencies = {
  readonly store: Pick<JobPort, "changeJob" | "endRound" | "findJob">;
  readonly queue: JobQueue;
  readonly waits: JobWaits;
  readonly gaps: JobGaps;
  readonly clock: Clock;
  readonly changed: (job: JobRecord) => void;
  /** How long the results of an ended job are kept. */
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
      await change(job, STOPPABLE, failed);
    },
    async finishRound(jobId) {
      const { changed: next, isWaiting: hasChunks } = await store.endRound(jobId, ended());
      if (next !== null) changed(next);
      // The second round begins once the cached failures have expired: before, nothing would be looked up.
      if (next !== null && hasChunks && !next.isTest) {
        waits.lookUpLater(jobId);
        leaveQueue(next);
      } else if (hasChunks && !waits.isKeptOut(jobId)) {
        // These are the other rows of a chunk that is done in parts, or chunks that were put back.
        const job = next ?? (await store.findJob(jobId));
        if (job !== null) queue.add(job.accountId, jobId);
      } else if (next !== null) leaveQueue(next);
    },
  };
}
