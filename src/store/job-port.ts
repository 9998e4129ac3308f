import type { Answer } from "../platform/answer.ts";
import type { ReplyRecord } from "./account-records.ts";

// The chunk ledger of jobs is their queue: a chunk is claimed, worked on and finished, and what it found, what it cost
// and the progress of its job become durable together (UsagePort.record) or not at all.

export type JobStatus =
  | "receiving"
  | "queued"
  | "running"
  | "paused"
  | "cancelling"
  | "cancelled"
  | "completed"
  | "failed";

/** States of a job that has not ended. */
export const UNFINISHED: readonly JobStatus[] = ["receiving", "queued", "running", "paused", "cancelling"];

/** Numbers of results by the words of the summary. */
export type JobCounts = { readonly [word: string]: number };

export type JobRecord = {
  readonly jobId: string;
  readonly accountId: string;
  readonly kind: string;
  readonly name: string | null;
  readonly status: JobStatus;
  readonly statusReason: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** When input and results are erased. */
  readonly expiresAt: number | null;
  /** When they were. */
  readonly erasedAt: number | null;
  /** The caller deleted it: it is no longer listed. */
  readonly deletedAt: number | null;
  /** What the caller asked for, as JSON. */
  readonly options: string;
  /** The columns of a CSV input, as JSON; null for other forms. */
  readonly inputTable: string | null;
  readonly chunkCount: number;
  readonly rows: number;
  readonly distinctRows: number;
  readonly unitsPerItem: number;
  /** Rows whose results stand. */
  readonly processed: number;
  /** JobCounts as JSON. */
  readonly counts: string;
  readonly unitsCharged: number;
  /** 2 while rows whose look-up failed are looked up once more. */
  readonly round: number;
  readonly isTest: boolean;
  readonly webhookUrl: string | null;
};

/** Some rows of a job's input, in the order of the input. */
export type NewJobChunk = {
  readonly n: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly form: string;
  readonly body: Uint8Array;
};

/** Who holds a chunk: a chunk that was claimed again since is another claim. */
export type ChunkClaim = { readonly jobId: string; readonly n: number; readonly attempt: number };

/** A claimed chunk, and its job as it is. */
export type ClaimedWork = { readonly chunk: ClaimedChunk; readonly job: JobRecord };

export type ClaimedChunk = NewJobChunk & {
  /** A bit for each row, 1 for a duplicate of an earlier row; null without duplicates. */
  readonly duplicates: Uint8Array | null;
  /** Rows that an earlier part of the chunk has finished. */
  readonly rowsDone: number;
  /** One more than the attempts that were counted before: who finishes it must name it. */
  readonly attempt: number;
};

/** The outcome of a claimed chunk, or of its first rows. */
export type FinishedChunk = {
  readonly jobId: string;
  readonly n: number;
  readonly attempt: number;
  /** Rows of the chunk that are finished now, those of earlier parts included. */
  readonly rowsDone: number;
  readonly isWhole: boolean;
  /** Attempts to count for the rows that are left. */
  readonly attemptsAfter: number;
  /** The results as JSON lines, compressed; in a second round those of the whole chunk. */
  readonly body: Uint8Array;
  /** Bytes of the lines. */
  readonly lineBytes: number;
  readonly units: number;
  /** Rows whose look-up failed and is tried once more; they are in none of the numbers below. */
  readonly unchecked: number;
  /** The body takes the place of what the chunk had: in the second round. */
  readonly replaces: boolean;
  readonly processed: number;
  readonly counts: JobCounts;
};

export type ChunkResults = {
  readonly n: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly rowsDone: number;
  readonly form: string;
  readonly lineBytes: number;
};

export type JobPage = {
  readonly accountId: string;
  readonly status: JobStatus | null;
  readonly afterJobId: string | null;
  readonly limit: number;
};

/** What becomes of a job; what is left out stays. */
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

/** What became of a round: the job where it changed, and whether chunks wait to be claimed. */
export type RoundEnd = { readonly changed: JobRecord | null; readonly isWaiting: boolean };

/** A chunk was finished by a process that no longer holds it: nothing of what it found stands. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

export type JobPort = {
  /**
   * Creates a job, together with the reply that says so. False, and nothing written, where the account has
   * `unfinishedMax` jobs that have not ended.
   */
  readonly createJob: (job: JobRecord, reply: ReplyRecord | null, unfinishedMax: number) => Answer<boolean>;
  /** Takes the input of a job that is being received, for this process alone. False while another one reads it. */
  readonly claimInput: (jobId: string) => Answer<boolean>;
  readonly releaseInput: (jobId: string) => Answer<void>;
  /** Jobs that are being received, and whose input no process reads. */
  readonly unreadJobs: () => Answer<readonly JobRecord[]>;
  /**
   * Adds chunks to a job whose input this process has taken; durable with the change that starts the job. Throws a
   * StorageError where the job is no longer received, or deleted.
   */
  readonly addJobChunks: (jobId: string, chunks: readonly NewJobChunk[]) => Answer<void>;
  /** Marks the duplicates of chunks from `firstChunk` on; durable with the change that starts the job. */
  readonly markDuplicates: (
    jobId: string,
    firstChunk: number,
    duplicates: readonly (Uint8Array | null)[],
  ) => Answer<void>;
  /** Changes a job that has one of these states, and these options where they are given. Null where it has not. */
  readonly changeJob: (
    jobId: string,
    from: readonly JobStatus[],
    change: JobChange,
    options?: string,
  ) => Answer<JobRecord | null>;
  /**
   * Starts a job whose input is whole, together with the reply that says so. Null where it is not being received, no
   * longer by this process, or deleted.
   */
  readonly startJob: (
    jobId: string,
    change: JobChange,
    reply: ReplyRecord | null,
  ) => Answer<JobRecord | null>;
  readonly findJob: (jobId: string) => Answer<JobRecord | null>;
  /** Returns jobs newest first; null where `afterJobId` names none of the account. */
  readonly jobPage: (page: JobPage) => Answer<readonly JobRecord[] | null>;
  readonly jobsIn: (statuses: readonly JobStatus[]) => Answer<readonly JobRecord[]>;
  /** Returns how many jobs of all accounts have not ended, by their state and its reason. */
  readonly unfinishedJobs: () => Answer<
    readonly { readonly status: JobStatus; readonly statusReason: string | null; readonly jobs: number }[]
  >;
  readonly countJobs: (accountId: string, statuses: readonly JobStatus[]) => Answer<number>;
  /** Jobs whose data is due to be erased. */
  readonly jobsToErase: (now: number, limit: number) => Answer<readonly JobRecord[]>;
  /** Claims the first chunk of a job that waits; null where none does, or the job is to run no further. */
  readonly claimChunk: (jobId: string) => Answer<ClaimedWork | null>;
  /**
   * Claims the first chunk of a paused job that waits while a later one has results: what was charged for these cannot be
   * read before. Null where there is no such gap.
   */
  readonly claimGap: (jobId: string) => Answer<ClaimedWork | null>;
  /** Puts a claimed chunk back, with the attempts to count for it. */
  readonly releaseChunk: (chunk: ChunkClaim, attempts: number) => Answer<void>;
  /** Lets the rows of a claimed chunk stand whose look-up failed, without looking them up again. */
  readonly keepUnchecked: (chunk: ChunkClaim) => Answer<void>;
  /** Puts all chunks back that a former process had claimed, and counts that attempt; returns how many. */
  readonly reapChunks: () => Answer<number>;
  /**
   * Where all chunks of a running job are done, puts those back that have unchecked rows, once, or completes the job.
   * Where a job is being cancelled and none of its chunks is claimed, it is cancelled.
   */
  readonly endRound: (
    jobId: string,
    ended: { readonly finishedAt: number; readonly expiresAt: number },
  ) => Answer<RoundEnd>;
  /** Returns finished chunks from `fromChunk` on, up to the first gap. */
  readonly chunkResults: (jobId: string, fromChunk: number, limit: number) => Answer<readonly ChunkResults[]>;
  /** The bodies of a chunk's results, in the order of its rows. */
  readonly resultBodies: (jobId: string, n: number) => Answer<readonly Uint8Array[]>;
  readonly inputBody: (jobId: string, n: number) => Answer<Uint8Array | null>;
  /** Erases inputs and results of some chunks; returns false when none are left. */
  readonly eraseChunks: (jobId: string, limit: number) => Answer<boolean>;
  readonly forgetJob: (jobId: string) => Answer<void>;
  /** Clears what the store keeps of erased rows beside its tables. False where it has to be tried again. */
  readonly clearErased: () => Answer<boolean>;
};
