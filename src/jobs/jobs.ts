import { type CursorPage, cursorPage } from "../contract/cursor-page.ts";
import { ApiError } from "../contract/errors.ts";
import {
  type JobRecord,
  type JobStatus,
  type ListedJob,
  STOPPABLE,
  UNFINISHED,
} from "../store/job-records.ts";
import { createInputsInReading } from "./inputs-in-reading.ts";
import { createJobChanges } from "./job-changes.ts";
import { createJobEraser, type JobEraser, type JobEraserDependencies } from "./job-eraser.ts";
import { createJobReceiver, type JobReceiver, type JobReceiverDependencies } from "./job-receiver.ts";
import type { JobRunner } from "./job-runner.ts";
import { findOwnJob } from "./own-job.ts";

export type Jobs = JobReceiver &
  Omit<JobEraser, "erase" | "dropWholly"> & {
    /** Throws `not_found` for a job that the account does not have. */
    readonly find: (accountId: string, jobId: string) => Promise<JobRecord>;
    readonly list: (
      accountId: string,
      page: { readonly status: JobStatus | null; readonly afterJobId: string | null; readonly limit: number },
    ) => Promise<CursorPage<ListedJob>>;
    readonly pause: (accountId: string, jobId: string) => Promise<JobRecord>;
    readonly resume: (accountId: string, jobId: string) => Promise<JobRecord>;
    readonly cancel: (accountId: string, jobId: string) => Promise<JobRecord>;
    /** Takes a job out of the lists and erases its input and results. */
    readonly remove: (accountId: string, jobId: string) => Promise<void>;
  };

export type JobsDependencies = Omit<JobReceiverDependencies & JobEraserDependencies, "inReading"> & {
  readonly runner: JobRunner;
};

/** The jobs of all accounts: received, started, changed by their callers, and erased in the end. */
export function createJobs(dependencies: JobsDependencies): Jobs {
  const { store, runner, clock, changed } = dependencies;
  const inReading = createInputsInReading();
  const receiver = createJobReceiver({ ...dependencies, inReading });
  const { erase, dropWholly, ...eraser } = createJobEraser({ ...dependencies, inReading });
  const { change, resume } = createJobChanges(store, changed);
  const find: Jobs["find"] = (accountId, jobId) => findOwnJob(store, accountId, jobId);

  /** False, and nothing done, where the job has left its state meanwhile. */
  async function removeFrom(job: JobRecord): Promise<boolean> {
    const { jobId, status } = job;
    if (status === "receiving") return dropWholly(jobId);
    const now = clock.now();
    const isLive = UNFINISHED.includes(status);
    const ended = isLive ? ({ status: "cancelling", statusReason: "by_caller" } as const) : {};
    const removed = await change(job, [status], { ...ended, deletedAt: now, expiresAt: now });
    if (removed === null) return false;
    if (isLive) await runner.giveUp(removed);
    const after = await store.findJob(jobId);
    // Another process has chunks of it in work, and aborts them within a second; the pruning erases the rest.
    if (after === null || UNFINISHED.includes(after.status)) return true;
    await erase(after, now);
    return true;
  }

  function requireNotEnded({ status }: JobRecord): void {
    if (status === "receiving") throw new ApiError("job_not_ready", "The job is still being received.");
    if (!UNFINISHED.includes(status)) throw new ApiError("job_finished", `The job is ${status}.`);
  }

  return {
    ...receiver,
    ...eraser,
    find,

    async list(accountId, { status, afterJobId, limit }) {
      const found = await store.jobPage({ accountId, status, afterJobId, limit: limit + 1 });
      if (found === null) throw new ApiError("invalid_request", "starting_after is no job of the account.");
      return cursorPage(found, limit, { view: (job) => job, idOf: ({ jobId }) => jobId });
    },

    async pause(accountId, jobId) {
      const job = await find(accountId, jobId);
      if (job.status === "paused" && job.statusReason === "by_caller") return job;
      requireNotEnded(job);
      const paused = await change(job, STOPPABLE, {
        status: "paused",
        statusReason: "by_caller",
      });
      if (paused !== null) await runner.hold(paused);
      return paused ?? (await find(accountId, jobId));
    },

    async resume(accountId, jobId) {
      const job = await find(accountId, jobId);
      requireNotEnded(job);
      const resumed = await resume(job);
      if (resumed !== null) runner.run(resumed);
      return resumed ?? (await find(accountId, jobId));
    },

    async cancel(accountId, jobId) {
      const job = await find(accountId, jobId);
      if (job.status === "cancelled") return job;
      requireNotEnded(job);
      const cancelling = await change(job, STOPPABLE, {
        status: "cancelling",
        statusReason: "by_caller",
      });
      if (cancelling !== null) await runner.hold(cancelling);
      return find(accountId, jobId);
    },

    async remove(accountId, jobId) {
      // Its state may change between two looks.
      while (!(await removeFrom(await find(accountId, jobId))));
    },
  };
}
