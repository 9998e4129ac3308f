import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chunksAhead } from "../batch/chunk-window.ts";
import { INTERACTIVE_WEIGHT } from "../batch/fair-queue.ts";
import type { GatherFacts } from "../batch/gather-facts.ts";
import type { BatchRunner } from "../batch/runner.ts";
import type { BillingClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import { FAILURE_CAP_MS, FAILURE_FLOOR_MS } from "../dns/cache.ts";
import { createChunkFacts } from "../jobs/chunks/chunk-facts.ts";
import { createDiskRoom, ROOM_ELSEWHERE } from "../jobs/disk-room.ts";
import { createIntake } from "../jobs/intake/intake-thread.ts";
import { createJobQueue } from "../jobs/job-queue.ts";
import { createJobRunner } from "../jobs/job-runner.ts";
import { createJobTally } from "../jobs/job-tally.ts";
import { createJobs } from "../jobs/jobs.ts";
import type { Pace } from "../jobs/pace.ts";
import { createJobResults } from "../jobs/results/results.ts";
import type { JobPool } from "../jobs/thread-tasks.ts";
import { createPartFiles } from "../jobs/uploads/part-files.ts";
import { createParts, type Parts } from "../jobs/uploads/parts.ts";
import type { SharedPartsOptions } from "../jobs/uploads/shared-parts.ts";
import { createUploads } from "../jobs/uploads/uploads.ts";
import { after } from "../platform/answer.ts";
import { DAY_MS } from "../platform/days.ts";
import { createFairTurns } from "../platform/fair-turns.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { PART_FOLDER } from "../store/data-folders.ts";
import type { JobPort } from "../store/job-port.ts";
import type { LeasePort } from "../store/lease-port.ts";
import type { PartPort } from "../store/part-port.ts";
import type { Upkeep } from "../store/port.ts";
import { repeatJobUpkeep } from "./job-upkeep.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

export type OpenJobsDependencies = {
  readonly store: JobPort & Pick<Upkeep, "probe" | "space">;
  /** Leases and parts in a store that processes share; null where this process has a store of its own. */
  readonly shared: (LeasePort & PartPort) | null;
  readonly jobPool: JobPool;
  /** What verifies in the threads of that pool. */
  readonly chunkRunner: BatchRunner;
  readonly gatherFacts: GatherFacts;
  readonly meter: Meter;
  /** While it is in doubt, nothing is past its retention. */
  readonly billingClock: BillingClock;
  /** Slows jobs down while calls wait for the same database; null where this process has a database of its own. */
  readonly pace: Pace | null;
};

const READY_SHARE = { tenant: "jobs", weight: INTERACTIVE_WEIGHT };
const WATCH_MS = 1_000;
/** Each is at most some megabytes. */
const SPARE_CHUNKS_MAX = 32;
const START_DELAY_MS = 250;
const UPLOAD_MS = DAY_MS;
/** Of an input when it is decoded: ten million rows of 400 bytes. */
const INPUT_BYTES_MAX = 4_294_967_296;

/** The jobs, and the thread that reads their inputs. */
export async function openJobs(
  { dataDir, batch, jobs: settings }: Pick<Config, "dataDir" | "batch" | "jobs">,
  { log, randomBytes, workerFiles }: Pick<Platform, "log" | "randomBytes" | "workerFiles">,
  {
    store,
    shared,
    jobPool: pool,
    chunkRunner: runner,
    gatherFacts,
    meter,
    billingClock: clock,
    pace,
  }: OpenJobsDependencies,
  stack: AsyncDisposableStack,
) {
  const folder = join(dataDir, PART_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const intake = stack.use(createIntake(workerFiles.jobIntake));
  const jobTally = createJobTally(clock);
  const failed = (what: string) => (error: unknown) => log.error(what, errorFacts(error));
  if (shared !== null) {
    // So that other processes continue the chunks at once.
    stack.defer(() => Promise.resolve(shared.releaseLeases(null)).catch(failed("releasing jobs failed")));
  }
  const { lookupTimeoutMs, workerThreads } = batch;
  const facts = createChunkFacts({ gatherFacts, clock, lookupTimeoutMs, failureMaxMs: FAILURE_CAP_MS });
  const turns = createFairTurns(clock.monotonic);
  const chunkRun = loadedOnce(async () => {
    const { createChunkRun } = await import("../jobs/chunks/chunk-run.ts");
    return createChunkRun({ store, pool, runner, facts, meter, threads: workerThreads, pace, turns });
  });
  const freeInside = () => after(store.space(), ({ freeBytes }) => freeBytes);
  const room = shared === null ? createDiskRoom({ folder, freeInside }) : ROOM_ELSEWHERE;
  const jobRunner = stack.use(
    createJobRunner({
      store,
      queue: createJobQueue(),
      clock,
      runChunk: (job, claimed, signal, onCommit) =>
        jobTally.run(job.accountId, claimed.attempt, async () => {
          const runChunk = await chunkRun.get();
          return runChunk(job, claimed, signal, onCommit);
        }),
      threadsReady: createThreadsReady(pool),
      meter,
      pace,
      announce: (job) => {
        // Without it the others find the job when they look next.
        if (shared !== null) void Promise.resolve(shared.announceJob(job)).catch(() => undefined);
      },
      room,
      changed(job) {
        const { jobId, status, statusReason } = job;
        jobTally.changed(job);
        log.info("job", { job: jobId, status, reason: statusReason ?? undefined });
      },
      seen: jobTally.seen,
      reportBug: (error, jobId) => log.error("a chunk of a job failed", { job: jobId, ...errorFacts(error) }),
      secondLookUp: { waitMs: FAILURE_FLOOR_MS, failuresExpireMs: facts.failuresExpireMs },
      settings: {
        chunksMax: chunksAhead(workerThreads),
        committedMax: workerThreads * 2,
        spareChunksMax: SPARE_CHUNKS_MAX,
        startDelayMs: START_DELAY_MS,
        retentionMs: settings.retentionMs,
        watchMs: WATCH_MS,
        // A database that others use too is away for a moment more often than it is full.
        pausesForStorage: shared === null,
      },
    }),
  );
  const newId = () => Buffer.from(randomBytes(12)).toString("hex");
  const parts = await openParts({ folder, shared, bytesMax: settings.uploadBytesMax, newId });
  const jobs = createJobs({
    store,
    intake,
    runner: jobRunner,
    meter,
    clock,
    room,
    newJobId: () => `job_${newId()}`,
    pace: pace?.turnToRead ?? (async () => undefined),
    random32: () => Buffer.from(randomBytes(4)).readInt32LE(),
    changed: jobTally.changed,
    dropParts: parts.remove,
    settings: { folder, inputBytesMax: INPUT_BYTES_MAX, uploadMs: UPLOAD_MS },
  });
  const uploads = createUploads({ store, jobs, parts, room, inputBytesMax: INPUT_BYTES_MAX });
  await store.reapChunks();
  await jobRunner.start();
  if (shared !== null) stack.defer(shared.listenForJobs(jobRunner.join));
  repeatJobUpkeep({ store, shared, jobs, parts, jobRunner, jobTally, uploadMs: UPLOAD_MS }, failed, stack);
  return { jobs, uploads, jobRunner, jobTally, jobResults: createJobResults({ store, pool, pace }) };
}

function openParts({
  folder,
  shared,
  bytesMax,
  newId,
}: Pick<OpenJobsDependencies, "shared"> & {
  readonly folder: string;
  readonly bytesMax: number;
  readonly newId: () => string;
}): Parts | Promise<Parts> {
  if (shared !== null) return openSharedParts({ store: shared, bytesMax, newPartId: newId });
  return createParts(
    createPartFiles(folder, () => `${newId()}.new`),
    { bytesMax },
  );
}

/** Loads the code of a cluster's uploads, which a server by itself never needs. */
async function openSharedParts(dependencies: SharedPartsOptions) {
  const { createSharedParts } = await import("../jobs/uploads/shared-parts.ts");
  return createSharedParts(dependencies);
}

/** Returns a function that resolves once a thread has answered, or has failed to. */
function createThreadsReady(pool: JobPool): () => Promise<void> {
  const answer = loadedOnce(async () => {
    await pool.run("ping", {}, { share: READY_SHARE });
  });
  return async () => {
    try {
      await answer.get();
    } catch {
      // The first chunk that is claimed fails with the reason.
    }
  };
}
