import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BatchRunner } from "../batch/runner.ts";
import type { BillingClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import { createChunkRun } from "../jobs/chunk-run.ts";
import { createIntake } from "../jobs/intake/intake-thread.ts";
import { createJobQueue } from "../jobs/job-queue.ts";
import { createJobRunner } from "../jobs/job-runner.ts";
import { createJobTally } from "../jobs/job-tally.ts";
import { createJobs } from "../jobs/jobs.ts";
import { createJobResults } from "../jobs/results.ts";
import type { JobPool } from "../jobs/thread-tasks.ts";
import { createPartFiles } from "../jobs/uploads/part-files.ts";
import { createParts } from "../jobs/uploads/parts.ts";
import { createUploads } from "../jobs/uploads/uploads.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

export type OpenJobsDependencies = {
  readonly store: EmbeddedStore;
  readonly pool: JobPool;
  readonly runner: BatchRunner;
  readonly meter: Meter;
  /** Nothing is past its retention by a clock that is in doubt. */
  readonly billingClock: BillingClock;
};

const WATCH_MS = 1_000;
const PRUNE_MS = 1_000;
const UPLOAD_MS = 24 * 3_600_000;
/** Of an input when it is decoded: ten million rows of 400 bytes. */
const INPUT_BYTES_MAX = 4_294_967_296;

/** The jobs, and the thread that reads their inputs. */
export function openJobs(
  { dataDir, batch, jobs: settings }: Pick<Config, "dataDir" | "batch" | "jobs">,
  { log, randomBytes, workerFiles }: Pick<Platform, "log" | "randomBytes" | "workerFiles">,
  { store, pool, runner, meter, billingClock: clock }: OpenJobsDependencies,
  stack: AsyncDisposableStack,
) {
  const folder = join(dataDir, "jobs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const intake = stack.use(createIntake(workerFiles.jobIntake));
  const jobTally = createJobTally(clock);
  for (const job of store.jobsIn(["queued", "running"])) jobTally.changed(job);
  const runChunk = createChunkRun({ store, pool, runner, meter });
  const jobRunner = stack.use(
    createJobRunner({
      store,
      queue: createJobQueue(),
      clock,
      runChunk: (job, claimed, signal) =>
        jobTally.run(job.accountId, claimed.attempt, () => runChunk(job, claimed, signal)),
      unitsLeft: (accountId) => meter.unitsLeft({ accountId }),
      changed(job) {
        const { jobId, status, statusReason } = job;
        jobTally.changed(job);
        log.info("job", { job: jobId, status, reason: statusReason ?? undefined });
      },
      reportBug: (error, jobId) => log.error("a chunk of a job failed", { job: jobId, ...errorFacts(error) }),
      settings: {
        // One in each thread, one waiting for each, and one whose domains are being looked up.
        chunksMax: batch.workerThreads * 2 + 1,
        retentionMs: settings.retentionMs,
        watchMs: WATCH_MS,
      },
    }),
  );
  const newId = () => Buffer.from(randomBytes(12)).toString("hex");
  const parts = createParts(
    createPartFiles(folder, () => `${newId()}.new`),
    { bytesMax: settings.uploadBytesMax },
  );
  const jobs = createJobs({
    store,
    intake,
    runner: jobRunner,
    meter,
    clock,
    newJobId: () => `job_${newId()}`,
    random32: () => Buffer.from(randomBytes(4)).readInt32LE(),
    changed: jobTally.changed,
    dropParts: parts.remove,
    settings: { folder, inputBytesMax: INPUT_BYTES_MAX, uploadMs: UPLOAD_MS },
  });
  const uploads = createUploads({ store, jobs, parts, inputBytesMax: INPUT_BYTES_MAX });
  jobRunner.start();
  const failed = (error: unknown) => log.error("pruning of jobs failed", errorFacts(error));
  const accountOf = (jobId: string) => {
    const job = store.findJob(jobId);
    return job?.status === "receiving" ? job.accountId : null;
  };
  let isPruning = true;
  const pruned = () => {
    isPruning = false;
  };
  Promise.all([jobs.dropCutOff(), parts.takeOver(accountOf)])
    .catch(failed)
    .finally(pruned);
  const pruning = setInterval(() => {
    if (isPruning) return;
    isPruning = true;
    jobs.prune().catch(failed).finally(pruned);
  }, PRUNE_MS);
  stack.defer(() => clearInterval(pruning));
  return { jobs, uploads, jobRunner, jobTally, jobResults: createJobResults({ store, pool }) };
}
