import type { Clock } from "../platform/clock.ts";
import type { JobRecord, JobStatus } from "../store/job-records.ts";
import type { ChunkOutcome } from "./chunks/chunk-outcome.ts";

/** Counts the outcomes of jobs and chunks since the start, and measures how long accounts wait for their turn. */
export type JobTally = {
  /** Must be called at each change of a job's state, and for the jobs of a former process. */
  readonly changed: (job: Pick<JobRecord, "jobId" | "accountId" | "status">) => void;
  /** Must be called with all jobs that have not ended, as other processes change jobs too. */
  readonly seen: (jobs: readonly Pick<JobRecord, "jobId" | "accountId" | "status">[]) => void;
  /** Must be called periodically with the accounts for which other processes hold chunks. */
  readonly inWorkElsewhere: (accountIds: readonly string[]) => void;
  /** Counts the work on a chunk. */
  readonly run: (
    accountId: string,
    attempt: number,
    work: () => Promise<ChunkOutcome>,
  ) => Promise<ChunkOutcome>;
  readonly stats: () => JobStats;
};

export type JobStats = {
  readonly ended: { readonly completed: number; readonly failed: number; readonly cancelled: number };
  readonly chunks: { readonly [outcome in ChunkOutcome | "failed"]: number };
  /** Chunks that were begun again after they had failed, or had ended the process. */
  readonly chunkRetries: number;
  /** The longest current wait of an account that has jobs to run and no chunk in work. */
  readonly oldestWaitMs: number;
};

type Waiting = { readonly jobIds: Set<string>; chunksInWork: number; idleSinceMs: number };

const RUNNABLE: readonly JobStatus[] = ["queued", "running"];

/** Holds an entry for each account with jobs to run. */
export function createJobTally(clock: Clock): JobTally {
  const accounts = new Map<string, Waiting>();
  const ended = { completed: 0, failed: 0, cancelled: 0 };
  const chunks = { finished: 0, out_of_units: 0, failed: 0 };
  let chunkRetries = 0;

  function entry(accountId: string): Waiting {
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    const waiting = { jobIds: new Set<string>(), chunksInWork: 0, idleSinceMs: clock.monotonic() };
    accounts.set(accountId, waiting);
    return waiting;
  }

  function forgetIdle(accountId: string, { jobIds, chunksInWork }: Waiting): void {
    if (jobIds.size === 0 && chunksInWork === 0) accounts.delete(accountId);
  }

  function note({ jobId, accountId, status }: Pick<JobRecord, "jobId" | "accountId" | "status">): void {
    const waiting = entry(accountId);
    if (!RUNNABLE.includes(status)) waiting.jobIds.delete(jobId);
    else {
      if (waiting.jobIds.size === 0) waiting.idleSinceMs = clock.monotonic();
      waiting.jobIds.add(jobId);
    }
    forgetIdle(accountId, waiting);
  }

  return {
    changed(job) {
      const { status } = job;
      if (status === "completed" || status === "failed" || status === "cancelled") ended[status] += 1;
      note(job);
    },
    seen(jobs) {
      const known = new Set(jobs.map(({ jobId }) => jobId));
      for (const [accountId, waiting] of accounts) {
        for (const jobId of waiting.jobIds) if (!known.has(jobId)) waiting.jobIds.delete(jobId);
        forgetIdle(accountId, waiting);
      }
      for (const job of jobs) note(job);
    },
    inWorkElsewhere(accountIds) {
      for (const accountId of accountIds) {
        const waiting = accounts.get(accountId);
        if (waiting !== undefined) waiting.idleSinceMs = clock.monotonic();
      }
    },
    async run(accountId, attempt, work) {
      if (attempt > 1) chunkRetries += 1;
      const waiting = entry(accountId);
      waiting.chunksInWork += 1;
      let outcome: ChunkOutcome | "failed" = "failed";
      try {
        outcome = await work();
        return outcome;
      } finally {
        chunks[outcome] += 1;
        waiting.chunksInWork -= 1;
        waiting.idleSinceMs = clock.monotonic();
        forgetIdle(accountId, waiting);
      }
    },
    stats() {
      const now = clock.monotonic();
      let oldestWaitMs = 0;
      for (const { jobIds, chunksInWork, idleSinceMs } of accounts.values()) {
        if (jobIds.size > 0 && chunksInWork === 0) oldestWaitMs = Math.max(oldestWaitMs, now - idleSinceMs);
      }
      return { ended: { ...ended }, chunks: { ...chunks }, chunkRetries, oldestWaitMs };
    },
  };
}
