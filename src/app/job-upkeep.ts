import type { JobRunner } from "../jobs/job-runner.ts";
import type { JobTally } from "../jobs/job-tally.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Parts } from "../jobs/uploads/parts.ts";
import type { JobPort } from "../store/job-port.ts";
import type { ChunkClaim } from "../store/job-records.ts";
import type { LeasePort } from "../store/lease-port.ts";
import type { PartPort } from "../store/part-port.ts";
import { EXPIRE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

export type JobUpkeepDependencies = {
  readonly store: Pick<JobPort, "findJob" | "reapChunks">;
  /** Leases and parts in a store that processes share; null where this process has a store of its own. */
  readonly shared: (LeasePort & PartPort) | null;
  readonly jobs: Pick<Jobs, "dropCutOff" | "prune" | "reading">;
  readonly parts: Pick<Parts, "takeOver">;
  readonly jobRunner: Pick<JobRunner, "held">;
  readonly jobTally: Pick<JobTally, "inWorkElsewhere">;
  /** From the creation of an upload to its removal where it is not started. */
  readonly uploadMs: number;
};

const PRUNE_MS = 1_000;
const RENEW_LEASES_MS = 1_000;

/** Repeats what jobs need beside their runner: the leases of this process, and the erasing of what is past its time. */
export function repeatJobUpkeep(
  { store, shared, jobs, parts, jobRunner, jobTally, uploadMs }: JobUpkeepDependencies,
  failed: (what: string) => (error: unknown) => void,
  stack: AsyncDisposableStack,
): void {
  const pruningFailed = failed("pruning of jobs failed");
  if (shared !== null) {
    const work = { held: jobRunner.held, reading: jobs.reading, inWork: jobTally.inWorkElsewhere };
    const upkeep = { everyMs: RENEW_LEASES_MS, reportError: failed("keeping the leases of jobs failed") };
    void repeatUpkeep(() => keepLeases(shared, store, work), upkeep, stack)();
    const removeFrames = async () => shared.removeAbandonedFrames(uploadMs);
    repeatUpkeep(removeFrames, { everyMs: EXPIRE_INTERVAL_MS, reportError: pruningFailed }, stack);
  }
  const accountOf = async (jobId: string) => {
    const job = await store.findJob(jobId);
    return job?.status === "receiving" ? job.accountId : null;
  };
  const cutOffDropped = jobs.dropCutOff({ isOnlyLook: shared === null });
  const takenOver = Promise.all([cutOffDropped, parts.takeOver(accountOf)]).catch(pruningFailed);
  const prune = async () => {
    await takenOver;
    try {
      if (shared !== null) await jobs.dropCutOff();
    } finally {
      await jobs.prune();
    }
  };
  repeatUpkeep(prune, { everyMs: PRUNE_MS, reportError: pruningFailed }, stack);
}

/** Renews the leases of this process, puts back what processes held that are gone, and reports what others hold. */
async function keepLeases(
  leases: LeasePort,
  store: Pick<JobPort, "reapChunks">,
  {
    held,
    reading,
    inWork,
  }: {
    readonly held: () => readonly ChunkClaim[];
    readonly reading: () => readonly string[];
    readonly inWork: (accountIds: readonly string[]) => void;
  },
): Promise<void> {
  const [chunks, inputs] = [held(), reading()];
  if (chunks.length + inputs.length > 0) await leases.renewLeases(chunks, inputs);
  await store.reapChunks();
  inWork(await leases.accountsInWork());
}
