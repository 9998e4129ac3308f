import { createTally } from "../../platform/tally.ts";
import type { JobRecord } from "../../store/job-records.ts";

/** Bounds the chunks in work, and counts them by job and by account. */
export type ChunkPlaces = {
  /** Whether there is a place for any account. */
  readonly isLeft: () => boolean;
  /** True also beyond the limit for an account without a chunk, so that slow look-ups of others cannot starve it. */
  readonly isLeftFor: (accountId: string) => boolean;
  readonly acquire: (job: Pick<JobRecord, "accountId" | "jobId">) => ChunkPlace;
  /** The chunks of a job that are in work. */
  readonly ofJob: (jobId: string) => number;
  readonly inWork: () => number;
};

export type ChunkPlace = {
  /** Frees the place for another chunk, as this one's work is done; false where it was freed before. */
  readonly commit: () => boolean;
  readonly release: () => void;
};

export type ChunkPlacesOptions = {
  /** Chunks in work at a time: one in each thread, and some whose look-ups are under way. */
  readonly chunksMax: number;
  /** Committed chunks that are being written to the disk, which need no thread. */
  readonly committedMax: number;
  /** Beyond those, for accounts that have none in work. */
  readonly spareChunksMax: number;
};

export function createChunkPlaces({
  chunksMax,
  committedMax,
  spareChunksMax,
}: ChunkPlacesOptions): ChunkPlaces {
  const byJob = createTally();
  const byAccount = createTally();
  let chunks = 0;
  let committed = 0;
  const isLeft = () => chunks < chunksMax + spareChunksMax;
  return {
    isLeft,
    isLeftFor(accountId) {
      if (chunks < chunksMax && committed < committedMax) return true;
      return isLeft() && byAccount.count(accountId) === 0;
    },
    acquire({ accountId, jobId }) {
      let isCommitted = false;
      chunks += 1;
      byJob.add(jobId, 1);
      byAccount.add(accountId, 1);
      return {
        commit() {
          if (isCommitted) return false;
          isCommitted = true;
          chunks -= 1;
          committed += 1;
          return true;
        },
        release() {
          if (isCommitted) committed -= 1;
          else chunks -= 1;
          byJob.add(jobId, -1);
          byAccount.add(accountId, -1);
        },
      };
    },
    ofJob: byJob.count,
    inWork: () => chunks + committed,
  };
}
