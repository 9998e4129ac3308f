import { QueueFullError } from "../batch/fair-queue.ts";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { ChunkClaim, ClaimedChunk, JobRecord, JobStatus } from "../store/job-port.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { StorageError } from "../store/storage-error.ts";
import { type ChunkOutcome, HopelessChunkError } from "./chunk-run.ts";
import { type Job, jobOf } from "./job.ts";
import type { JobQueue } from "./job-queue.ts";

export type JobRunner = AsyncDisposable & {
  /** Takes up the jobs that a former process left. */
  readonly start: () => void;
  /** Runs a job whose input is whole, or one that is to go on. */
  readonly run: (job: JobRecord) => void;
  /** Takes a job out of the queue; its chunks in work are finished. */
  readonly hold: (job: JobRecord) => void;
  readonly chunksInWork: () => number;
  readonly queued: () => number;
};

export type JobRunnerDependencies = {
  readonly store: EmbeddedStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly runChunk: (job: Job, claimed: ClaimedChunk, signal: AbortSignal) => Promise<ChunkOutcome>;
  readonly unitsLeft: (accountId: string) => number;
  readonly changed: (job: JobRecord) => void;
  readonly reportBug: (error: unknown, jobId: string) => void;
  readonly settings: {
    /** Chunks in work at a time: one in each thread, and some that wait for their look-ups. */
    readonly chunksMax: number;
    readonly retentionMs: number;
    /** How often jobs are looked at that wait for units or for the disk. */
    readonly watchMs: number;
  };
};

/** Claims chunks in fair order, has them verified, and brings jobs to their end. */
export function createJobRunner(dependencies: JobRunnerDependencies): JobRunner {
  const { store, queue, clock, runChunk, unitsLeft, changed, reportBug, settings } = dependencies;
  const inWork = new Map<string, number>();
  const unreleased = new Map<string, { readonly claim: ChunkClaim; readonly isFault: boolean }>();
  /** Jobs that wait for room until they are looked at again. */
  const resting = new Set<string>();
  const stop = new AbortController();
  let chunks = 0;
  let watch: Timer | undefined;

  function hold(job: Pick<JobRecord, "accountId" | "jobId">): void {
    queue.remove(job.accountId, job.jobId);
  }

  function change(
    job: Pick<JobRecord, "accountId" | "jobId">,
    from: readonly JobStatus[],
    to: Parameters<EmbeddedStore["changeJob"]>[2],
  ): JobRecord | null {
    const after = store.changeJob(job.jobId, from, to);
    if (after !== null) changed(after);
    return after;
  }

  function pause(job: Pick<JobRecord, "accountId" | "jobId">, reason: string): void {
    hold(job);
    change(job, ["queued", "running"], { status: "paused", statusReason: reason });
  }

  /** Claims the next chunk of the account whose turn it is; false where no job has one. */
  function claimNext(): boolean {
    for (const { accountId, jobId } of queue.inTurn()) {
      const claimed = store.claimChunk(jobId);
      const record = claimed === null ? null : store.findJob(jobId);
      if (claimed === null || record === null) {
        queue.remove(accountId, jobId);
        if ((inWork.get(jobId) ?? 0) === 0) finishRound(jobId);
        continue;
      }
      queue.took(accountId);
      void work(begun(record), claimed);
      return true;
    }
    return false;
  }

  /** The job as it runs: the first chunk starts it. */
  function begun(record: JobRecord): Job {
    if (record.status !== "queued") return jobOf(record);
    const started = {
      status: "running",
      statusReason: null,
      startedAt: record.startedAt ?? clock.now(),
    } as const;
    return jobOf(change(record, ["queued"], started) ?? record);
  }

  async function work(job: Job, claimed: ClaimedChunk): Promise<void> {
    chunks += 1;
    inWork.set(job.jobId, (inWork.get(job.jobId) ?? 0) + 1);
    try {
      const outcome = await runChunk(job, claimed, stop.signal);
      if (outcome === "out_of_units") {
        release(claimOf(job, claimed), false);
        pause(job, "out_of_units");
      }
    } catch (error) {
      if (error instanceof HopelessChunkError) fail(job, "a chunk of its rows cannot be verified");
      else if (!stop.signal.aborted) giveBack(job, claimOf(job, claimed), error);
    } finally {
      chunks -= 1;
      const left = (inWork.get(job.jobId) ?? 1) - 1;
      if (left > 0) inWork.set(job.jobId, left);
      else inWork.delete(job.jobId);
      if (!stop.signal.aborted) goOn(job.jobId, left);
    }
  }

  function goOn(jobId: string, left: number): void {
    try {
      if (left === 0) finishRound(jobId);
      pump();
    } catch (error) {
      if (!(error instanceof StorageError)) reportBug(error, jobId);
    }
  }

  function giveBack(job: Job, claim: ChunkClaim, error: unknown): void {
    const isQuota = error instanceof ApiError && error.code === "quota_exceeded";
    const isOverload = error instanceof QueueFullError || (error instanceof ApiError && !isQuota);
    const isStorage = error instanceof StorageError;
    const isFault = !isQuota && !isOverload && !isStorage;
    if (isFault) reportBug(error, job.jobId);
    // A chunk that failed is tried again at once; what waits for room is looked at again later.
    if (!isFault) {
      resting.add(job.jobId);
      hold(job);
    }
    try {
      release(claim, isFault);
      if (isQuota) pause(job, "out_of_units");
      else if (isStorage) pause(job, "storage");
    } catch (failure) {
      if (!(failure instanceof StorageError)) reportBug(failure, job.jobId);
    }
  }

  /** Puts a chunk back; where the disk does not take that, it is tried again with the next look. */
  function release(claim: ChunkClaim, isFault: boolean): void {
    unreleased.set(`${claim.jobId} ${claim.n}`, { claim, isFault });
    releaseAll();
  }

  function releaseAll(): void {
    for (const [key, { claim, isFault }] of unreleased) {
      store.releaseChunk(claim, isFault);
      unreleased.delete(key);
    }
  }

  function fail(job: Job, reason: string): void {
    hold(job);
    change(job, ["queued", "running"], { ...ended("failed"), statusReason: reason });
  }

  const ended = (status: JobStatus) => {
    const finishedAt = clock.now();
    return { status, finishedAt, expiresAt: finishedAt + settings.retentionMs };
  };

  /** Where all chunks of a job are done, looks failed rows up once more, or ends it. */
  function finishRound(jobId: string): void {
    const job = store.findJob(jobId);
    if (job === null) return;
    if (job.status === "cancelling") {
      const cancelled = ended("cancelled");
      // What its caller deleted meanwhile is erased at once.
      const expiresAt = job.deletedAt === null ? cancelled.expiresAt : job.deletedAt;
      change(job, ["cancelling"], { ...cancelled, expiresAt, statusReason: "by_caller" });
      return;
    }
    if (job.status !== "running" && job.status !== "queued") return;
    if (store.chunksLeft(jobId) > 0) {
      // Rows of a chunk that is done in parts, or chunks that were put back.
      if (!resting.has(jobId)) queue.add(job.accountId, jobId);
      return;
    }
    if (job.round === 1 && store.requeueUnchecked(jobId) > 0) {
      const again = change(job, ["queued", "running"], { round: 2 });
      if (again !== null) queue.add(job.accountId, jobId);
      return;
    }
    hold(job);
    change(job, ["queued", "running"], { ...ended("completed"), statusReason: null });
  }

  function pump(): void {
    while (!stop.signal.aborted && chunks < settings.chunksMax && claimNext());
  }

  /** Takes up jobs that wait for what has come: units, or room on the disk. */
  function lookAgain(): void {
    releaseAll();
    resting.clear();
    for (const job of store.jobsIn(["paused", "queued", "running", "cancelling"])) {
      if (job.status === "cancelling") finishIdle(job);
      else if (job.status !== "paused") queue.add(job.accountId, job.jobId);
      else if (canGoOn(job)) resume(job);
    }
    pump();
  }

  function finishIdle({ jobId }: JobRecord): void {
    if ((inWork.get(jobId) ?? 0) === 0) finishRound(jobId);
  }

  function canGoOn({ statusReason, accountId, unitsPerItem }: JobRecord): boolean {
    if (statusReason === "storage") return true;
    return statusReason === "out_of_units" && unitsLeft(accountId) >= unitsPerItem;
  }

  function resume(job: JobRecord): void {
    if (job.statusReason === "storage") store.probe();
    const status = job.startedAt === null ? "queued" : "running";
    const resumed = change(job, ["paused"], { status, statusReason: null });
    if (resumed !== null) queue.add(job.accountId, job.jobId);
  }

  function watchAgain(): void {
    try {
      lookAgain();
    } catch (error) {
      if (!(error instanceof StorageError)) reportBug(error, "");
    }
  }

  return {
    start() {
      store.reapChunks();
      lookAgain();
      watch = setInterval(watchAgain, settings.watchMs);
      watch.unref();
    },
    run(job) {
      queue.add(job.accountId, job.jobId);
      pump();
    },
    hold(job) {
      hold(job);
      if (job.status === "cancelling") finishIdle(job);
    },
    chunksInWork: () => chunks,
    queued: () => queue.jobs(),
    async [Symbol.asyncDispose]() {
      clearInterval(watch);
      stop.abort();
    },
  };
}

function claimOf({ jobId }: Job, { n, attempt }: ClaimedChunk): ChunkClaim {
  return { jobId, n, attempt };
}
