// The records of jobs, and of the chunks that their rows are divided into. Times are milliseconds since the epoch.

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

/** States of a job that can still be paused, cancelled or given up. */
export const STOPPABLE: readonly JobStatus[] = ["queued", "running", "paused"];

/** Counts of results by the words of the summary. */
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
  /** When input and results are due to be erased. */
  readonly expiresAt: number | null;
  /** When they were erased. */
  readonly erasedAt: number | null;
  /** When the caller deleted it, after which it is not listed. */
  readonly deletedAt: number | null;
  /** The options of the caller, as JSON. */
  readonly options: string;
  /** The columns of a CSV input, as JSON; null for other forms. */
  readonly inputTable: string | null;
  readonly chunkCount: number;
  readonly rows: number;
  readonly distinctRows: number;
  readonly unitsPerItem: number;
  /** Rows with a final result. */
  readonly processed: number;
  /** JobCounts as JSON. */
  readonly counts: string;
  readonly unitsCharged: number;
  /** 2 while rows whose look-up failed are looked up once more. */
  readonly round: number;
  readonly isTest: boolean;
  readonly webhookUrl: string | null;
};

/** A job in a list of jobs: an input may have thousands of columns. */
export type ListedJob = Omit<JobRecord, "inputTable">;

/** A job among those in a state, with what the queue has to know: all that have not ended are read each second. */
export type JobInState = Pick<
  JobRecord,
  | "jobId"
  | "accountId"
  | "isTest"
  | "status"
  | "statusReason"
  | "startedAt"
  | "deletedAt"
  | "unitsPerItem"
  | "round"
>;

/** Some rows of a job's input, in the order of the input. */
export type NewJobChunk = {
  readonly n: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly form: string;
  readonly body: Uint8Array;
};

/** Identifies the claim of a chunk: each claim has another `attempt`. */
export type ChunkClaim = { readonly jobId: string; readonly n: number; readonly attempt: number };

/** A claimed chunk, and the current record of its job. */
export type ClaimedWork = { readonly chunk: ClaimedChunk; readonly job: JobRecord };

export type ClaimedChunk = NewJobChunk & {
  /** A bit for each row, 1 for a duplicate of an earlier row; null without duplicates. */
  readonly duplicates: Uint8Array | null;
  /** Rows of the chunk that are finished already. */
  readonly rowsDone: number;
  /** The attempts counted before, plus one. */
  readonly attempt: number;
};

/** The outcome of a claimed chunk, or of its first rows. */
export type FinishedChunk = {
  readonly jobId: string;
  readonly n: number;
  readonly attempt: number;
  /** Rows of the chunk that are finished now, earlier ones included. */
  readonly rowsDone: number;
  readonly isWhole: boolean;
  /** Attempts to count for the remaining rows. */
  readonly attemptsAfter: number;
  /** The results as JSON lines, compressed; in a second round those of the whole chunk. */
  readonly body: Uint8Array;
  /** Bytes of the lines. */
  readonly lineBytes: number;
  readonly units: number;
  /** Rows whose look-up failed and is tried once more; the numbers below exclude them. */
  readonly unchecked: number;
  /** Whether the body replaces the chunk's results, as in the second round. */
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
