import { createBodyChunker } from "../batch/body-chunker.ts";
import { waitingTasksMax } from "../batch/chunk-window.ts";
import { createGatherFacts } from "../batch/gather-facts.ts";
import { createInlineVerifier } from "../batch/inline-verifier.ts";
import { createPool, type PoolTasks } from "../batch/pool.ts";
import { createBatchRunner } from "../batch/runner.ts";
import { createFactsBuffer } from "../batch/shared-facts.ts";
import type { DomainFactsSource } from "../domains/facts.ts";
import type { JobTasks } from "../jobs/thread-tasks.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

/** Domains that one batch looks up at a time: as many as keep the resolver busy, so that other callers need not queue behind it. */
const LOOKUPS_PER_BATCH_MAX = 256;

/** Opens the worker threads, and the way of a batch and of a job's chunk through them. */
export function openBatches(
  { batch }: Pick<Config, "batch">,
  { clock, workerFiles }: Pick<Platform, "clock" | "workerFiles">,
  domainFacts: DomainFactsSource,
  stack: AsyncDisposableStack,
) {
  const { workerThreads: threads, taskTimeoutMs } = batch;
  const way = {
    gatherFacts: createGatherFacts(domainFacts, createFactsBuffer(), LOOKUPS_PER_BATCH_MAX, clock),
    clock,
    inline: { chunkBody: createBodyChunker(), ...createInlineVerifier() },
    settings: {
      batchesMax: batch.inFlightMax,
      threads,
      lookupTimeoutMs: batch.lookupTimeoutMs,
      taskTimeoutMs,
    },
  };
  const waitingMax = batch.inFlightMax * waitingTasksMax(threads);
  const settings = { threads, waitingMax, taskTimeoutMs, clock };
  const pool = stack.use(createPool({ ...settings, workerFile: workerFiles.batch }));
  // Threads of their own: the machine takes a core from a job's thread at once where a batch's wants it.
  const jobPool = stack.use(
    createPool<PoolTasks & JobTasks>({ ...settings, workerFile: workerFiles.jobs, isBackground: true }),
  );
  return {
    pool,
    gatherFacts: way.gatherFacts,
    runner: createBatchRunner({ ...way, pool }),
    jobPool,
    chunkRunner: createBatchRunner({ ...way, pool: jobPool }),
  };
}
