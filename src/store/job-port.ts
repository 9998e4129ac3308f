import type { Answer } from "../platform/answer.ts";
import type { ReplyRecord } from "./port.ts";

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

export type ClaimedChunk = NewJobChunk & {
  /** A bit for each row, 1 for a duplicate of an earlier row; null where there is none. */
  readonly duplicates: Uint8Array | null;
  /** Rows that an earlier part of the chunk has finished. */
  readonly rowsDone: number;
  /** How many times it was claimed, this one included: who finishes it must name it. */
  readonly attempt: number;
};

/** What a claimed chunk, or its first rows, came to. */
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

export type JobPort = {
  /** Creates a job, together with the reply that says so. */
  readonly createJob: (job: JobRecord, reply: ReplyRecord | null) => Answer<void>;
  /** Adds chunks to a job that is being received; durable with the change that starts it. */
  readonly addJobChunks: (jobId: string, chunks: readonly NewJobChunk[]) => Answer<void>;
  /** Marks the duplicates of chunks from `firstChunk` on; durable with the change that starts the job. */
  readonly markDuplicates: (
    jobId: string,
    firstChunk: number,
    duplicates: readonly (Uint8Array | null)[],
  ) => Answer<void>;
  /** Changes a job that has one of these states. Null where it has none of them. */
  readonly changeJob: (
    jobId: string,
    from: readonly JobStatus[],
    change: JobChange,
  ) => Answer<JobRecord | null>;
  /** Starts a job whose input is whole, together with the reply that says so. Null where it is not being received. */
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
  /** Claims the first chunk of a job that waits; null where none does. */
  readonly claimChunk: (jobId: string) => Answer<ClaimedChunk | null>;
  /** Puts a claimed chunk back. `isFault`: its attempt counts, as the chunk itself may be what fails. */
  readonly releaseChunk: (chunk: ChunkClaim, isFault: boolean) => Answer<void>;
  /** Lets the rows of a claimed chunk stand whose look-up failed, without looking them up again. */
  readonly keepUnchecked: (chunk: ChunkClaim) => Answer<void>;
  /** Puts all chunks back that a former process had claimed; returns how many. */
  readonly reapChunks: () => Answer<number>;
  /** Chunks of a job that are claimed or wait. */
  readonly chunksLeft: (jobId: string) => Answer<number>;
  /** Puts the chunks back that have unchecked rows; returns how many. */
  readonly requeueUnchecked: (jobId: string) => Answer<number>;
  /** Returns finished chunks from `fromChunk` on, up to the first gap. */
  readonly chunkResults: (jobId: string, fromChunk: number, limit: number) => Answer<readonly ChunkResults[]>;
  /** The bodies of a chunk's results, in the order of its rows. */
  readonly resultBodies: (jobId: string, n: number) => Answer<readonly Uint8Array[]>;
  readonly inputBody: (jobId: string, n: number) => Answer<Uint8Array | null>;
  /** Erases inputs and results of some chunks; returns false when none are left. */
  readonly eraseChunks: (jobId: string, limit: number) => Answer<boolean>;
  readonly forgetJob: (jobId: string) => Answer<void>;
};
