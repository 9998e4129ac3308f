import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { ChunkClaim, ClaimedWork, JobPort, JobRecord } from "../store/job-port.ts";
import type { Upkeep } from "../store/port.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import { createChunkClaims } from "./chunk-claims.ts";
import { createChunkFailures } from "./chunk-failures.ts";
import type { ChunkOutcome } from "./chunk-outcome.ts";
import { type ChunkPlacesOptions, createChunkPlaces } from "./chunk-places.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { Job } from "./job.ts";
import { createJobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";
import { createJobSteps } from "./job-steps.ts";
import { createJobWaits } from "./job-waits.ts";

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

/** Claims chunks in fair order, has them verified, and brings jobs to their end. */
export function createJobRunner(dependencies: JobRunnerDependencies): JobRunner {
  const { store, queue, clock, runChunk, threadsReady, unitsLeft, room } = dependencies;
  const { changed, seen, reportBug, settings } = dependencies;
  const places = createChunkPlaces(settings);
  const claims = createChunkClaims(store);
  const gaps = createJobGaps({ store, unitsLeft });
  const waits = createJobWaits(clock, settings.lookUpAgainMs);
  const { retentionMs, pausesForStorage } = settings;
  const steps = createJobSteps({ store, queue, waits, gaps, clock, changed, retentionMs });
  const stop = new AbortController();
  const isEnding = () => stop.signal.aborted;
  const settleFailure = createChunkFailures({
    claims,
    queue,
    waits,
    steps,
    unitsLeft,
    isEnding,
    reportBug,
    pausesForStorage,
  });
  let watch: Timer | undefined;
  let starting: Timer | undefined;
  let pumping: Promise<void> | null = null;
  let isPumpAsked = false;
  let isLooking = false;

  /** Claims the next chunk of the account whose turn it is; false where no job has one, or none can be kept. */
  async function claimNext(): Promise<boolean> {
    if (!queue.inTurn().some(({ accountId }) => places.isLeftFor(accountId))) return false;
    if (!(await room.isLeft())) {
      for (const job of queue.inTurn()) await steps.pause(job, "storage");
      return false;
    }
    for (const { accountId, jobId } of queue.inTurn()) {
      if (!places.isLeftFor(accountId)) continue;
      const claimed = await store.claimChunk(jobId);
      if (claimed === null) {
        queue.remove(accountId, jobId);
        await finishIdle(jobId);
        continue;
      }
      queue.took(accountId);
      void work(claimed);
      return true;
    }
    return false;
  }

  async function work({ chunk, job: record }: ClaimedWork): Promise<void> {
    const { jobId } = record;
    const claim = { jobId, n: chunk.n, attempt: chunk.attempt };
    claims.add(claim);
    const place = places.acquire(record);
    const onCommit = () => {
      if (place.commit() && !isEnding()) void pump();
    };
    try {
      const outcome = await runChunk(await steps.start(record), chunk, stop.signal, onCommit);
      if (outcome === "out_of_units") {
        await claims.release(claim, claim.attempt - 1);
        await steps.pause(record, "out_of_units");
      }
    } catch (error) {
      await settleFailure(record, claim, error).catch((failure: unknown) => reportUnknown(failure, jobId));
    } finally {
      claims.delete(claim);
      place.release();
      if (!isEnding()) await goOn(jobId);
    }
  }

  async function goOn(jobId: string): Promise<void> {
    try {
      await finishIdle(jobId);
    } catch (error) {
      reportUnknown(error, jobId);
    }
    await pump();
  }

  /** What the store cannot do now is tried again with the next look. */
  function reportUnknown(error: unknown, jobId: string): void {
    if (!isStorageFailure(error)) reportBug(error, jobId);
  }

  /** Finishes the round of a job that has no chunk in work. */
  async function finishIdle(jobId: string): Promise<void> {
    if (places.ofJob(jobId) === 0) await steps.finishRound(jobId);
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
        while (!isEnding() && (await claimNext()));
      } catch (error) {
        reportUnknown(error, "");
      }
    }
  }

  /** Queues jobs that wait for what has come: units, or room on the disk. */
  async function lookAgain(): Promise<void> {
    await claims.releaseAll();
    waits.expire();
    const jobs = await store.jobsIn(["paused", "queued", "running", "cancelling"]);
    seen(jobs);
    gaps.seen(jobs);
    for (const job of jobs) {
      if (job.status === "cancelling") await finishIdle(job.jobId);
      else if (waits.isLater(job.jobId)) continue;
      else if (job.status !== "paused") queue.add(job.accountId, job.jobId);
      else if (await canGoOn(job)) await resumePaused(job);
      else await closeGap(job);
    }
  }

  /** Finishes what stands before finished chunks of a paused job, also in the room that is left to everything else. */
  async function closeGap(job: JobRecord): Promise<void> {
    while (!isEnding() && places.isLeftFor(job.accountId)) {
      const claimed = await gaps.claim(job);
      if (claimed === null) return;
      void work(claimed);
    }
  }

  async function canGoOn({ statusReason, accountId, unitsPerItem }: JobRecord): Promise<boolean> {
    if (statusReason === "storage") return room.isBack();
    return statusReason === "out_of_units" && (await unitsLeft(accountId)) >= unitsPerItem;
  }

  async function resumePaused(job: JobRecord): Promise<void> {
    if (job.statusReason === "storage") await store.probe();
    await steps.resume(job);
  }

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
      steps.hold(job);
      if (job.status === "cancelling") await finishIdle(job.jobId);
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
