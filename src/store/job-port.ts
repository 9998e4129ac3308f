import type { Answer } from "../platform/answer.ts";
import type { ReplyRecord } from "./account-records.ts";
import type {
  ChunkClaim,
  ChunkResults,
  ClaimedWork,
  JobInState,
  JobRecord,
  JobStatus,
  ListedJob,
  NewJobChunk,
} from "./job-records.ts";

// The chunk ledger of jobs is their queue. A chunk is claimed, worked on and finished: its results, its charge and the
// progress of its job become durable in one transaction (UsagePort.record).

export type JobPage = {
  readonly accountId: string;
  readonly status: JobStatus | null;
  readonly afterJobId: string | null;
  readonly limit: number;
};

/** The fields of a job to change. */
export type JobChange = Partial<
  Pick<
    JobRecord,
    | "status"
    | "statusReason"
    | "startedAt"
    | "finishedAt"
    | "expiresAt"
    | "erasedAt"
    | "deletedAt"
    | "rows"
    | "distinctRows"
    | "chunkCount"
    | "inputTable"
    | "options"
    | "kind"
    | "name"
    | "unitsPerItem"
    | "round"
    | "webhookUrl"
  >
>;

/** The outcome of ending a round: the job if it changed, and whether chunks wait to be claimed. */
export type RoundEnd = { readonly changed: JobRecord | null; readonly isWaiting: boolean };

/** The process that finished a chunk no longer held its claim: its results are discarded. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

/** `next` is the cursor of the jobs behind these; null where there are none. */
export type FailedJobs = { readonly jobIds: readonly string[]; readonly next: string | null };

/** A job whose input is to be erased. */
export type LateJob = Pick<JobRecord, "jobId" | "deletedAt">;

export type JobPort = {
  /**
   * Creates a job, and keeps the reply to its call in the same transaction. False, and nothing written, where the account
   * has `unfinishedMax` unfinished jobs. Throws an AccountErasedError.
   */
  readonly createJob: (job: JobRecord, reply: ReplyRecord | null, unfinishedMax: number) => Answer<boolean>;
  /** Claims the input of a job that is being received, for this process. False while another one holds it. */
  readonly claimInput: (jobId: string) => Answer<boolean>;
  readonly releaseInput: (jobId: string) => Answer<void>;
  /** Returns the jobs whose input no process has claimed, though it came in one piece; oldest first. */
  readonly cutOffJobs: () => Answer<readonly string[]>;
  /**
   * Returns up to `limit` jobs that are being received and are deleted, or were created by a time and have an input that
   * no process has claimed; oldest first.
   */
  readonly lateJobs: (createdBy: number, limit: number) => Answer<readonly LateJob[]>;
  /**
   * Adds chunks to a job whose input this process has claimed; durable with the change that starts the job. Throws a
   * StorageError where the job was started or deleted.
   */
  readonly addJobChunks: (jobId: string, chunks: readonly NewJobChunk[]) => Answer<void>;
  /**
   * Erases up to `limit` chunks of a job whose input this process has claimed, fewer where they are large; false once none
   * are left. Throws a StorageError where the job was started or deleted.
   */
  readonly clearInput: (jobId: string, limit: number) => Answer<boolean>;
  /** Marks the duplicates of chunks from `firstChunk` on; durable with the change that starts the job. */
  readonly markDuplicates: (
    jobId: string,
    firstChunk: number,
    duplicates: readonly (Uint8Array | null)[],
  ) => Answer<void>;
  /**
   * Changes a job in one of these states, with these options if given. Null where it has another state or options. Where it
   * fails, its unchecked rows count as unknown. The event of a pause may take the place of older ones of the same job, of
   * which a webhook keeps the newest `PAUSES_OF_JOB_MAX`, and for a while some more.
   */
  readonly changeJob: (
    jobId: string,
    from: readonly JobStatus[],
    change: JobChange,
    options?: string,
  ) => Answer<JobRecord | null>;
  /**
   * Starts a job whose input is complete, and keeps the reply to its call in the same transaction. Null where the job is not
   * being received by this process, or was deleted.
   */
  readonly startJob: (
    jobId: string,
    change: JobChange,
    reply: ReplyRecord | null,
  ) => Answer<JobRecord | null>;
  readonly findJob: (jobId: string) => Answer<JobRecord | null>;
  /** Returns jobs, newest first; null where `afterJobId` is not a job of the account. */
  readonly jobPage: (page: JobPage) => Answer<readonly ListedJob[] | null>;
  /** Returns all jobs in these states, oldest first. */
  readonly jobsIn: (statuses: readonly JobStatus[]) => Answer<readonly JobInState[]>;
  /** Returns up to `limit` failed jobs whose results are kept, behind a cursor that a call before has returned. */
  readonly failedJobs: (after: string | null, limit: number) => Answer<FailedJobs>;
  /** Returns the number of unfinished jobs of all accounts, by state and reason. */
  readonly unfinishedJobs: () => Answer<
    readonly { readonly status: JobStatus; readonly statusReason: string | null; readonly jobs: number }[]
  >;
  readonly countJobs: (accountId: string, statuses: readonly JobStatus[]) => Answer<number>;
  /** Returns jobs whose data is due to be erased. */
  readonly jobsToErase: (now: number, limit: number) => Answer<readonly JobRecord[]>;
  /** Claims the first waiting chunk of a job; null without one, or where the job must not run. */
  readonly claimChunk: (jobId: string) => Answer<ClaimedWork | null>;
  /**
   * Claims the first waiting chunk of a paused job before a chunk with results, which cannot be read until this gap is
   * closed. Null without such a gap, as in the second round, where all chunks have results.
   */
  readonly claimGap: (jobId: string) => Answer<ClaimedWork | null>;
  /** Releases a claimed chunk, with the attempts to count for it. */
  readonly releaseChunk: (chunk: ChunkClaim, attempts: number) => Answer<void>;
  /** Finishes a claimed chunk of the second round with its results of the first. */
  readonly keepUnchecked: (chunk: ChunkClaim) => Answer<void>;
  /** Releases all chunks that a former process had claimed, and counts that attempt; returns their number. */
  readonly reapChunks: () => Answer<number>;
  /**
   * Once all chunks of a running job are done, releases those with unchecked rows for a second round, or completes the job.
   * A job that is being cancelled is cancelled once none of its chunks is claimed. Where it ends so, or has failed, its
   * unchecked rows count as unknown.
   */
  readonly endRound: (
    jobId: string,
    ended: { readonly finishedAt: number; readonly expiresAt: number },
  ) => Answer<RoundEnd>;
  /** Returns consecutive finished chunks from `fromChunk` on. */
  readonly chunkResults: (jobId: string, fromChunk: number, limit: number) => Answer<readonly ChunkResults[]>;
  /** Returns the bodies of a chunk's results, in the order of its rows. */
  readonly resultBodies: (jobId: string, n: number) => Answer<readonly Uint8Array[]>;
  readonly inputBody: (jobId: string, n: number) => Answer<Uint8Array | null>;
  /** Erases the input and results of up to `limit` chunks, fewer where they are large; false once none are left. */
  readonly eraseChunks: (jobId: string, limit: number) => Answer<boolean>;
  readonly forgetJob: (jobId: string) => Answer<void>;
  /** Clears the traces of erased rows outside the tables, such as the log. False where it must be tried again. */
  readonly clearErased: () => Answer<boolean>;
};
