import type { RunOptions } from "../../batch/task-pool.ts";
import type { Meter } from "../../billing/meter.ts";
import type { ClaimedChunk } from "../../store/job-records.ts";
import type { Job } from "../job.ts";
import type { JobPool } from "../thread-tasks.ts";
import { storedChunk, type VerifiedRows } from "./claimed-rows.ts";

/** Gives up rows that failed by themselves. */
export type GivenUpRows = {
  /** Returns the next row of a chunk as `check_failed`; after eight rows of one chunk, all that are left of it. */
  readonly next: (job: Job, claimed: ClaimedChunk, options: RunOptions<never>) => Promise<VerifiedRows>;
  /** Forgets the count of a chunk; to be called once all of it is finished. */
  readonly forget: (jobId: string, n: number) => void;
};

/** Rows of a chunk that are given up one by one. */
const GIVEN_UP_MAX = 8;

export function createGivenUpRows({
  pool,
  meter,
}: {
  readonly pool: JobPool;
  readonly meter: Pick<Meter, "enter" | "reserve">;
}): GivenUpRows {
  /** How many rows of each chunk were given up one by one. */
  const givenUp = new Map<string, number>();
  return {
    async next(job, claimed, options) {
      const key = `${job.jobId} ${claimed.n}`;
      const before = givenUp.get(key) ?? 0;
      givenUp.set(key, before + 1);
      const end = before < GIVEN_UP_MAX ? claimed.rowsDone + 1 : claimed.rows;
      const rows = Array.from({ length: end - claimed.rowsDone }, (_, at) => claimed.rowsDone + at);
      const task = { ...storedChunk(job, claimed), rows };
      const verified = await pool.runTwice("giveUpJobRows", task, options);
      await meter.enter(job.accountId);
      const reservation = meter.reserve({ accountId: job.accountId }, 0, { isCall: false });
      return { rows, verified, reservation };
    },
    forget: (jobId, n) => void givenUp.delete(`${jobId} ${n}`),
  };
}
