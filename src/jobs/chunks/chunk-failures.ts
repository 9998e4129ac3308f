import { QueueFullError } from "../../batch/fair-queue.ts";
import { ApiError } from "../../contract/errors.ts";
import { ClaimLostError } from "../../store/job-port.ts";
import type { ChunkClaim, JobRecord } from "../../store/job-records.ts";
import { isStorageFailure } from "../../store/storage-error.ts";
import type { JobQueue } from "../job-queue.ts";
import type { JobSteps } from "../job-steps.ts";
import type { JobUnits } from "../job-units.ts";
import type { JobWaits } from "../job-waits.ts";
import { attemptsAfterFailure, attemptsBefore } from "./attempts.ts";
import type { ChunkClaims } from "./chunk-claims.ts";
import { HopelessChunkError } from "./chunk-outcome.ts";

/** Settles what becomes of a chunk whose work has failed, and of its job. */
export type SettleFailure = (job: JobRecord, claim: ChunkClaim, error: unknown) => Promise<void>;

export type ChunkFailuresDependencies = {
  readonly claims: ChunkClaims;
  readonly queue: JobQueue;
  readonly waits: JobWaits;
  readonly steps: Pick<JobSteps, "pause" | "fail">;
  readonly units: Pick<JobUnits, "left">;
  /** True once the process is ending: its claims are left to the next one. */
  readonly isEnding: () => boolean;
  readonly reportBug: (error: unknown, jobId: string) => void;
  /** Whether jobs are paused that the store has no room for. */
  readonly pausesForStorage: boolean;
};

export function createChunkFailures(dependencies: ChunkFailuresDependencies): SettleFailure {
  const { claims, queue, waits, steps, units, isEnding, reportBug, pausesForStorage } = dependencies;

  async function giveBack(job: JobRecord, claim: ChunkClaim, error: unknown): Promise<void> {
    const isQuota = error instanceof ApiError && error.code === "quota_exceeded";
    const isOverload = error instanceof QueueFullError || (error instanceof ApiError && !isQuota);
    const isStorage = isStorageFailure(error);
    const isFault = !isQuota && !isOverload && !isStorage;
    if (isFault) reportBug(error, job.jobId);
    // A chunk that failed by a fault is tried again at once; one that lacks room, with the next reconciliation.
    if (!isFault) {
      waits.backOff(job.jobId);
      queue.remove(job.accountId, job.jobId);
    }
    const { attempt } = claim;
    await claims.release(claim, isFault ? attemptsAfterFailure(attempt) : attemptsBefore(attempt));
    if (isQuota && (await units.left(job.accountId)) < job.unitsPerItem) {
      await steps.pause(job, "out_of_units");
    } else if (isStorage && pausesForStorage) await steps.pause(job, "storage");
  }

  return async (job, claim, error) => {
    if (error instanceof HopelessChunkError) {
      await steps.fail(job, "a chunk of its rows cannot be verified");
      // A cancellation ends once no chunk is claimed.
      await claims.release(claim, claim.attempt);
    } else if (!(error instanceof ClaimLostError) && !isEnding()) await giveBack(job, claim, error);
  };
}
