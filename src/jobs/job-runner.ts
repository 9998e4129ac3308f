import { QueueFullError } from "../batch/fair-queue.ts";
import { ApiError } from "../contract/errors.ts";
import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import {
  type ChunkClaim,
  type ClaimedWork,
  ClaimLostError,
  type JobPort,
  type JobRecord,
} from "../store/job-port.ts";
import type { Upkeep } from "../store/port.ts";
import { StorageError, UnsettledError } from "../store/storage-error.ts";
import { attemptsAfterFailure } from "./attempts.ts";
import { createChunkClaims } from "./chunk-claims.ts";
import { type ChunkOutcome, HopelessChunkError } from "./chunk-outcome.ts";
import { type ChunkPlacesOptions, createChunkPlaces } from "./chunk-places.ts";
import type { DiskRoom } from "./disk-room.ts";
import { type Job, jobOf } from "./job.ts";
import { createJobChanges } from "./job-changes.ts";
import { createJobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";

export type JobRunner = AsyncDisposable & {
  /** Takes up the jobs that a former process left. */
  readonly start: () => Promise<void>;
  /** Runs a job whose input is whole, or one that is to go on. */
  readonly run: (job: JobRecord) => void;
  /** Takes a job out of the queue; its chunks in work are finished. */
  readonly hold: (job: JobRecord) => Promise<void>;
  readonly chunksInWork: () => number;
  readonly queued: () => number;
  /** The claims of this process. */
  readonly held: () => readonly ChunkClaim[];
};

export type JobRunnerDependencies = {
  readonly store: JobPort & Pick<Upkeep, "probe">;
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** Calls `onCommit` once the end of the process no longer undoes the work: before it is on the disk. */
  readonly runChunk: (
    job: Job,
    claimed: ClaimedWork["chunk"],
    signal: AbortSignal,
    onCommit: () => void,
  ) => Promise<ChunkOutcome>;
  /** Resolves once a thread can begin. A claim counts as an attempt, also where the process ends before any thread began. */
  readonly threadsReady: () => Promise<void>;
  readonly unitsLeft: (accountId: string) => Answer<number>;
  readonly room: DiskRoom;
  readonly changed: (job: JobRecord) => void;
  /** Called at each look with the jobs that have not ended. */
  readonly seen: (jobs: readonly JobRecord[]) => void;
  readonly reportBug: (error: unknown, jobId: string) => void;
  readonly settings: ChunkPlacesOptions & {
    /** From the end of the rows to the second look-up of those whose first one failed. */
    readonly lookUpAgainMs: number;
    /** From the start on: until then the process answers its first calls, and reads no code for jobs. */
    readonly startDelayMs: number;
    readonly retentionMs: number;
    /** How often jobs are looked at that wait for units or for the disk, or that another process has started. */
    readonly watchMs: number;
    /** Whether jobs are paused that the store has no room for. */
    readonly pausesForStorage: boolean;
  };
};

type JobName = Pick<JobRecord, "accountId" | "jobId">;

/** Claims chunks in fair order, has them verified, and brings jobs to their end. */
export function createJobRunner(dependencies: JobRunnerDependencies): JobRunner {
  const { store, queue, clock, runChunk, threadsReady, unitsLeft, room } = dependencies;
  const { changed, seen, reportBug, settings } = dependencies;
  const { change, resume } = createJobChanges(store, changed);
  const places = createChunkPlaces(settings);
  const claims = createChunkClaims(store);
  const gaps = createJobGaps({ store, unitsLeft });
  /** Jobs that wait for room until they are looked at again. */
  const resting = new Set<string>();
  /** When jobs go on that look up again what has failed, on the monotonic clock. */
  const laterMs = new Map<string, number>();
  const stop = new AbortController();
  let watch: Timer | undefined;
  let starting: Timer | undefined;
  let pumping: Promise<void> | null = null;
  let isPumpAsked = false;

  function leaveQueue(job: JobName): void {
    queue.remove(job.accountId, job.jobId);
  }

  async function pause(job: JobName, reason: string): Promise<void> {
    leaveQueue(job);
    gaps.forget(job.jobId);
    await change(job, ["queued", "running"], { status: "paused", statusReason: reason });
  }

  /** Claims the next chunk of the account whose turn it is; false where no job has one, or none can be kept. */
  async function claimNext(): Promise<boolean> {
    if (!queue.inTurn().some(({ accountId }) => places.isLeftFor(accountId))) return false;
    if (!(await room.isLeft())) {
      for (const job of queue.inTurn()) await pause(job, "storage");
      return false;
    }
    for (const { accountId, jobId } of queue.inTurn()) {
      if (!places.isLeftFor(accountId)) continue;
      const claimed = await store.claimChunk(jobId);
      if (claimed === null) {
        queue.remove(accountId, jobId);
        if (places.ofJob(jobId) === 0) await finishRound(jobId);
        continue;
      }
      queue.took(accountId);
      void work(claimed);
      return true;
    }
    return false;
  }

  /** The job as it runs: the first chunk starts it. */
  async function startedJob(record: JobRecord): Promise<Job> {
    if (record.status !== "queued") return jobOf(record);
    const started = {
      status: "running",
      statusReason: null,
      startedAt: record.startedAt ?? clock.now(),
    } as const;
    return jobOf((await change(record, ["queued"], started)) ?? record);
  }

  async function work({ chunk, job: record }: ClaimedWork): Promise<void> {
    const { jobId } = record;
    const claim = { jobId, n: chunk.n, attempt: chunk.attempt };
    claims.add(claim);
    const place = places.acquire(record);
    const onCommit = () => {
      if (place.commit() && !stop.signal.aborted) void pump();
    };
    try {
      const outcome = await runChunk(await startedJob(record), chunk, stop.signal, onCommit);
      if (outcome === "out_of_units") {
        await claims.release(claim, claim.attempt - 1);
        await pause(record, "out_of_units");
      }
    } catch (error) {
      await afterFailure(record, claim, error).catch((failure: unknown) => reportUnknown(failure, jobId));
    } finally {
      claims.delete(claim);
      place.release();
      if (!stop.signal.aborted) await goOn(jobId);
    }
  }

  async function goOn(jobId: string): Promise<void> {
    try {
      if (places.ofJob(jobId) === 0) await finishRound(jobId);
    } catch (error) {
      reportUnknown(error, jobId);
    }
    await pump();
  }

  /** What the store cannot do now is tried again with the next look. */
  function reportUnknown(error: unknown, jobId: string): void {
    if (!(error instanceof StorageError || error instanceof UnsettledError)) reportBug(error, jobId);
  }

  async function afterFailure(job: JobRecord, claim: ChunkClaim, error: unknown): Promise<void> {
    if (error instanceof HopelessChunkError) {
      await fail(job, "a chunk of its rows cannot be verified");
      // A job that is being cancelled waits for its claimed chunks.
      await claims.release(claim, claim.attempt);
    } else if (!(error instanceof ClaimLostError) && !stop.signal.aborted) await giveBack(job, claim, error);
  }

  async function giveBack(job: JobRecord, claim: ChunkClaim, error: unknown): Promise<void> {
    const isQuota = error instanceof ApiError && error.code === "quota_exceeded";
    const isOverload = error instanceof QueueFullError || (error instanceof ApiError && !isQuota);
    const isStorage = error instanceof StorageError || error instanceof UnsettledError;
    const isFault = !isQuota && !isOverload && !isStorage;
    if (isFault) reportBug(error, job.jobId);
    // A chunk that failed is tried again at once; what waits for room is looked at again later.
    if (!isFault) {
      resting.add(job.jobId);
      leaveQueue(job);
    }
    await claims.release(claim, isFault ? attemptsAfterFailure(claim.attempt) : claim.attempt - 1);
    if (isQuota && (await unitsLeft(job.accountId)) < job.unitsPerItem) await pause(job, "out_of_units");
    else if (isStorage && settings.pausesForStorage) await pause(job, "storage");
  }

  async function fail(job: JobName, reason: string): Promise<void> {
    leaveQueue(job);
    await change(job, ["queued", "running", "paused"], {
      ...ended(),
      status: "failed",
      statusReason: reason,
    });
  }

  const ended = () => {
    const finishedAt = clock.now();
    return { finishedAt, expiresAt: finishedAt + settings.retentionMs };
  };

  /** Where all chunks of a job are done, has failed rows looked up once more, or ends it. */
  async function finishRound(jobId: string): Promise<void> {
    const { changed: after, isWaiting } = await store.endRound(jobId, ended());
    if (after !== null) changed(after);
    // The second round begins. Failures are kept for a while: asked at once, nobody would look anything up.
    if (after !== null && isWaiting && !after.isTest) {
      laterMs.set(jobId, clock.monotonic() + settings.lookUpAgainMs);
      leaveQueue(after);
    } else if (isWaiting && !resting.has(jobId) && !laterMs.has(jobId)) {
      // Rows of a chunk that is done in parts, or chunks that were put back.
      const job = after ?? (await store.findJob(jobId));
      if (job !== null) queue.add(job.accountId, jobId);
    } else if (after !== null) leaveQueue(after);
  }

  /** Claims chunks as long as there is room. One claims at a time, so that there are never too many. */
  function pump(): Promise<void> {
    isPumpAsked = true;
    pumping ??= claimAll().finally(() => {
      pumping = null;
    });
    return pumping;
  }

  async function claimAll(): Promise<void> {
    while (isPumpAsked) {
      isPumpAsked = false;
      try {
        if (queue.jobs() > 0) await threadsReady();
        while (!stop.signal.aborted && (await claimNext()));
      } catch (error) {
        reportUnknown(error, "");
      }
    }
  }

  /** Queues jobs that wait for what has come: units, or room on the disk. */
  async function lookAgain(): Promise<void> {
    await claims.releaseAll();
    resting.clear();
    for (const [jobId, ms] of laterMs) if (ms <= clock.monotonic()) laterMs.delete(jobId);
    const jobs = await store.jobsIn(["paused", "queued", "running", "cancelling"]);
    seen(jobs);
    gaps.seen(jobs);
    for (const job of jobs) {
      if (job.status === "cancelling") await finishIdle(job);
      else if (laterMs.has(job.jobId)) continue;
      else if (job.status !== "paused") queue.add(job.accountId, job.jobId);
      else if (await canGoOn(job)) await resumePaused(job);
      else await closeGap(job);
    }
  }

  /** Finishes what stands before finished chunks of a paused job, also in the room that is left to everything else. */
  async function closeGap(job: JobRecord): Promise<void> {
    while (!stop.signal.aborted && places.isLeftFor(job.accountId)) {
      const claimed = await gaps.claim(job);
      if (claimed === null) return;
      void work(claimed);
    }
  }

  async function finishIdle({ jobId }: JobRecord): Promise<void> {
    if (places.ofJob(jobId) === 0) await finishRound(jobId);
  }

  async function canGoOn({ statusReason, accountId, unitsPerItem }: JobRecord): Promise<boolean> {
    if (statusReason === "storage") return room.isBack();
    return statusReason === "out_of_units" && (await unitsLeft(accountId)) >= unitsPerItem;
  }

  async function resumePaused(job: JobRecord): Promise<void> {
    if (job.statusReason === "storage") await store.probe();
    const resumed = await resume(job);
    if (resumed !== null) queue.add(job.accountId, job.jobId);
  }

  let isLooking = false;
  async function watchAgain(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      await lookAgain();
      await pump();
    } catch (error) {
      reportUnknown(error, "");
    } finally {
      isLooking = false;
    }
  }

  return {
    async start() {
      await lookAgain();
      starting = setTimeout(() => void pump(), settings.startDelayMs);
      watch = setInterval(() => void watchAgain(), settings.watchMs);
      watch.unref();
    },
    run(job) {
      queue.add(job.accountId, job.jobId);
      void pump();
    },
    async hold(job) {
      leaveQueue(job);
      gaps.forget(job.jobId);
      if (job.status === "cancelling") await finishIdle(job);
    },
    chunksInWork: places.inWork,
    queued: () => queue.jobs(),
    held: claims.held,
    async [Symbol.asyncDispose]() {
      clearTimeout(starting);
      clearInterval(watch);
      stop.abort();
      await pumping;
    },
  };
}
