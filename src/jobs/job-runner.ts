import { setImmediate as nextTurn } from "node:timers/promises";
import type { Meter } from "../billing/meter.ts";
import type { Clock } from "../platform/clock.ts";
import type { JobPort } from "../store/job-port.ts";
import type { ChunkClaim, ClaimedWork, JobInState, JobRecord } from "../store/job-records.ts";
import type { AnnouncedJob } from "../store/lease-port.ts";
import type { Upkeep } from "../store/port.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import { attemptsBefore } from "./chunks/attempts.ts";
import { createChunkClaims } from "./chunks/chunk-claims.ts";
import { createChunkFailures } from "./chunks/chunk-failures.ts";
import type { ChunkOutcome } from "./chunks/chunk-outcome.ts";
import { type ChunkPlacesOptions, createChunkPlaces } from "./chunks/chunk-places.ts";
import { createChunkStops } from "./chunks/chunk-stops.ts";
import type { DiskRoom } from "./disk-room.ts";
import { createFormerFailures } from "./former-failures.ts";
import type { Job } from "./job.ts";
import { createJobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";
import { createJobReconciliation } from "./job-reconciliation.ts";
import { createJobSteps } from "./job-steps.ts";
import { createJobUnits } from "./job-units.ts";
import { createJobWaits, type SecondLookUp } from "./job-waits.ts";
import type { Pace } from "./pace.ts";

export type JobRunner = AsyncDisposable & {
  /** Continues the jobs of a former process. */
  readonly start: () => Promise<void>;
  /** Queues a job that was started or resumed. */
  readonly run: (job: JobRecord) => void;
  /** Queues a job that another process announces. */
  readonly join: (job: AnnouncedJob) => void;
  /** Takes a job out of the queue; its chunks in work are finished. */
  readonly hold: (job: JobRecord) => Promise<void>;
  /** Takes a deleted job out of the queue, aborts its chunks in work, and resolves once this process has none. */
  readonly giveUp: (job: JobRecord) => Promise<void>;
  readonly chunksInWork: () => number;
  readonly queued: () => number;
  /** The claims of this process. */
  readonly held: () => readonly ChunkClaim[];
};

export type JobRunnerDependencies = {
  readonly store: JobPort & Pick<Upkeep, "probe">;
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** Calls `onCommit` once the work survives the end of the process, which is before it is on the disk. */
  readonly runChunk: (
    job: Job,
    claimed: ClaimedWork["chunk"],
    signal: AbortSignal,
    onCommit: () => void,
  ) => Promise<ChunkOutcome>;
  /** Resolves once a thread is ready: a claim counts as an attempt even where the process ends before it is worked on. */
  readonly threadsReady: () => Promise<void>;
  readonly meter: Pick<Meter, "enter" | "unitsLeft" | "mayCover">;
  /** Ends the rests of threads for a job that is given up; null where they take none. */
  readonly pace: Pick<Pace, "hurry"> | null;
  /** Announces a job of which chunks wait while all places of this process are taken. */
  readonly announce: (job: AnnouncedJob) => void;
  readonly room: DiskRoom;
  readonly changed: (job: JobRecord) => void;
  /** Called at each reconciliation with the jobs that have not ended. */
  readonly seen: (jobs: readonly JobInState[]) => void;
  readonly reportBug: (error: unknown, jobId: string) => void;
  /** From the end of the first round to the second look-up of the rows whose first one failed. */
  readonly secondLookUp: SecondLookUp;
  readonly settings: ChunkPlacesOptions & {
    /** From the start to the first claim: meanwhile the process answers its first calls and loads no code for jobs. */
    readonly startDelayMs: number;
    readonly retentionMs: number;
    /** Between two reconciliations of the queue with the store. */
    readonly watchMs: number;
    /** Whether a job is paused for which the store has no room. */
    readonly pausesForStorage: boolean;
  };
};

/** Claims chunks in fair order, has them verified, and ends jobs whose chunks are done. */
export function createJobRunner(dependencies: JobRunnerDependencies): JobRunner {
  const { store, queue, clock, runChunk, threadsReady, announce, room } = dependencies;
  const { changed, seen, reportBug, secondLookUp, settings } = dependencies;
  const places = createChunkPlaces(settings);
  const claims = createChunkClaims(store);
  const stops = createChunkStops(dependencies.pace);
  const units = createJobUnits(dependencies.meter);
  const gaps = createJobGaps({ store, units });
  const waits = createJobWaits(clock, secondLookUp);
  const { retentionMs, pausesForStorage } = settings;
  const steps = createJobSteps({ store, queue, waits, gaps, clock, changed, retentionMs });
  const stop = new AbortController();
  const isEnding = () => stop.signal.aborted;
  const common = { store, clock, room, queue, claims, waits, gaps, steps, units, isEnding };
  const settleFailure = createChunkFailures({ ...common, reportBug, pausesForStorage });
  const reconcile = createJobReconciliation({
    ...common,
    places,
    stops,
    seen,
    work: begin,
    finishIdle,
  });
  const countFormer = createFormerFailures({ store, finishIdle, isEnding });
  let watch: Timer | undefined;
  let starting: Timer | undefined;
  let pumping: Promise<void> | null = null;
  let isPumpAsked = false;
  let isReconciling = false;
  let isStarted = false;

  /** Claims the next chunk of the account whose turn it is; false where no job has one, or none can be kept. */
  async function claimNext(): Promise<boolean> {
    if (!places.isLeft()) return false;
    if (!queue.inTurn().some(({ accountId }) => places.isLeftFor(accountId))) return false;
    if (!(await room.isLeft())) {
      await pauseQueued();
      return false;
    }
    const without = new Set<string>();
    for (const { accountId, jobId } of queue.inTurn()) {
      if (without.has(jobId) || !places.isLeftFor(accountId)) continue;
      const claimed = await store.claimChunk(jobId);
      if (claimed === null) {
        // It may be queued again, behind the others.
        without.add(jobId);
        queue.remove(accountId, jobId);
        await finishIdle(jobId);
        continue;
      }
      queue.countTaken(accountId);
      begin(claimed);
      return true;
    }
    return false;
  }

  /** Pauses all queued jobs for want of room, one in each turn of the event loop. */
  async function pauseQueued(): Promise<void> {
    for (const job of queue.inTurn()) {
      await steps.pause(job, "storage");
      await nextTurn();
      if (isEnding()) return;
    }
  }

  function begin(claimed: ClaimedWork): void {
    const { jobId } = claimed.job;
    const ended = work(claimed);
    stops.track(jobId, ended);
    void ended.then(() => (isEnding() ? undefined : continueWith(jobId)));
  }

  /** Never rejects. */
  async function work({ chunk, job: record }: ClaimedWork): Promise<void> {
    const { jobId } = record;
    const signal = stops.signalOf(jobId);
    const claim = { jobId, n: chunk.n, attempt: chunk.attempt };
    claims.add(claim);
    const place = places.acquire(record);
    const onCommit = () => {
      if (place.commit() && !isEnding()) void pump();
    };
    try {
      const outcome = await runChunk(await steps.start(record), chunk, signal, onCommit);
      if (outcome === "out_of_units") {
        await claims.release(claim, attemptsBefore(claim.attempt));
        await steps.pause(record, "out_of_units");
      }
    } catch (error) {
      const isGivenUp = signal.aborted && !isEnding();
      const settled = isGivenUp
        ? claims.release(claim, attemptsBefore(claim.attempt))
        : settleFailure(record, claim, error);
      await settled.catch((failure: unknown) => reportUnknown(failure, jobId));
    } finally {
      claims.delete(claim);
      place.release();
    }
  }

  async function continueWith(jobId: string): Promise<void> {
    try {
      await finishIdle(jobId);
    } catch (error) {
      reportUnknown(error, jobId);
    }
    await pump();
  }

  /** Reports a bug. What the store refuses now is tried again with the next reconciliation. */
  function reportUnknown(error: unknown, jobId: string): void {
    if (!isStorageFailure(error)) reportBug(error, jobId);
  }

  /** Finishes the round of a job that has no chunk in work. */
  async function finishIdle(jobId: string): Promise<void> {
    if (places.ofJob(jobId) === 0) await steps.finishRound(jobId);
  }

  /** Claims chunks until all places are taken. Only one claims at a time, so that the places are never exceeded. */
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
        // A claim is a transaction: one in each turn, so that calls run in between.
        while (!isEnding() && (await claimNext())) await nextTurn();
      } catch (error) {
        reportUnknown(error, "");
      }
    }
  }

  async function reconcileAndPump(): Promise<void> {
    if (isReconciling || isEnding()) return;
    isReconciling = true;
    try {
      await reconcile();
      await pump();
      await countFormer();
    } catch (error) {
      reportUnknown(error, "");
    } finally {
      isReconciling = false;
    }
  }

  return {
    async start() {
      await reconcile();
      starting = setTimeout(() => {
        isStarted = true;
        void pump().then(reconcileAndPump);
      }, settings.startDelayMs);
      watch = setInterval(() => void reconcileAndPump(), settings.watchMs);
      watch.unref();
    },
    run({ accountId, jobId }) {
      // The reconciliation queues it once its second look-up is due.
      if (waits.isLater(jobId)) return;
      queue.add(accountId, jobId);
      void pump().then(() => {
        if (queue.has(accountId, jobId) && !isEnding()) announce({ accountId, jobId });
      });
    },
    join({ accountId, jobId }) {
      if (isEnding() || !isStarted || waits.isLater(jobId)) return;
      queue.add(accountId, jobId);
      void pump();
    },
    async hold(job) {
      steps.hold(job);
      if (job.status === "cancelling") await finishIdle(job.jobId);
    },
    async giveUp(job) {
      steps.hold(job);
      await stops.giveUp(job.jobId);
      await finishIdle(job.jobId);
    },
    chunksInWork: places.inWork,
    queued: () => queue.jobs(),
    held: claims.held,
    async [Symbol.asyncDispose]() {
      clearTimeout(starting);
      clearInterval(watch);
      stop.abort();
      stops.giveUpAll();
      await pumping;
    },
  };
}
