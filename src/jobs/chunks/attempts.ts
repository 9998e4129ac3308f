/** What an attempt does with a chunk. */
export type AttemptPlan =
  /** Verifies at most this many of its unfinished rows. */
  | { readonly act: "verify"; readonly rowsMax: number }
  /** Records the next row, which has failed by itself, as `check_failed` without verifying it. */
  | { readonly act: "give_up_row" }
  /** Fails the job: even that has failed. */
  | { readonly act: "fail" };

/**
 * What a failure counts, where a claim alone counts 1. A process that ends while it holds a chunk counts its claim alone:
 * it was killed far more often than crashed by a row, and a kill may cost no row. A row that does crash the process is
 * still isolated, after some 170 starts.
 */
const FAILURE_ATTEMPTS = 8;
/** Failures of all that is left of a chunk, before fewer rows are taken. */
const WHOLE_FAILURES = 5;
/** Failures of one row by itself, the one at its last halving included. */
const ROW_FAILURES = 5;
const GIVE_UP_FAILURES = 5;

/**
 * Returns what an attempt does, numbered from 1. After five failures the chunk is bisected: half of its `rows` are taken,
 * then a quarter, down to a single row, which is tried four or five times. A row that fails, or kills its thread, is
 * isolated after some sixteen more failures and costs itself alone.
 */
export function planAttempt(attempt: number, rows: number): AttemptPlan {
  const halvings = halvingsAt(attempt);
  if (halvings <= 0) return { act: "verify", rowsMax: rows };
  const beyond = halvings - halvingsToOne(rows) - (ROW_FAILURES - 1);
  if (beyond <= 0) return { act: "verify", rowsMax: Math.max(1, Math.ceil(rows / 2 ** halvings)) };
  return { act: beyond <= GIVE_UP_FAILURES ? "give_up_row" : "fail" };
}

/**
 * Returns the attempts to count for the rest of a chunk once some of its rows are finished: the failing row is among the
 * next ones, and the next attempt takes half as many. 0 once the bisection has ended.
 */
export function attemptsAfter(attempt: number, rows: number): number {
  const halvings = halvingsAt(attempt);
  return halvings > 0 && halvings <= halvingsToOne(rows) ? attemptsAfterFailure(attempt) : 0;
}

/** Returns the attempts to count for a chunk that was put back through no fault of its rows: its claim does not count. */
export function attemptsBefore(attempt: number): number {
  return attempt - 1;
}

/** Returns the attempts to count for a chunk that failed while its process lived. */
export function attemptsAfterFailure(attempt: number): number {
  return attemptsBefore(attempt) + FAILURE_ATTEMPTS;
}

/** Returns how often the rows of a chunk are halved at an attempt; below 1 all of them are taken. */
function halvingsAt(attempt: number): number {
  return Math.floor((attempt - 1) / FAILURE_ATTEMPTS) + 1 - WHOLE_FAILURES;
}

function halvingsToOne(rows: number): number {
  return Math.ceil(Math.log2(Math.max(1, rows)));
}
