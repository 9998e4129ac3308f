/** What is done with a chunk at an attempt. */
export type AttemptPlan =
  /** The most of its rows that are taken, from those behind the finished ones. */
  | { readonly act: "verify"; readonly rowsMax: number }
  /** Its next row has failed by itself: it becomes `check_failed` without being verified. */
  | { readonly act: "give_up_row" }
  /** Not even that can be done. */
  | { readonly act: "fail" };

/**
 * What a failure counts, where a claim alone counts 1. A process that was ended while it held a chunk leaves it with the
 * claim: it was killed far more often than a row brought it down, and then no row may be given up. A row that does bring
 * it down is found all the same, after some 170 starts.
 */
const FAILURE_ATTEMPTS = 8;
/** Failures of all that is left of a chunk, before fewer rows are taken. */
const WHOLE_FAILURES = 5;
/** Failures of one row by itself, that of the halving which led to it included. */
const ROW_FAILURES = 5;
const GIVE_UP_FAILURES = 5;

/**
 * Returns what the attempt with this number does, from 1 on. After five failures of a chunk of `rows` rows a half of them
 * is taken, then a quarter, down to one row, which is tried four or five times: what fails by itself, or ends its thread,
 * is found after some sixteen more failures, and costs its own row alone.
 */
export function planAttempt(attempt: number, rows: number): AttemptPlan {
  const halvings = halvingsAt(attempt);
  if (halvings <= 0) return { act: "verify", rowsMax: rows };
  const beyond = halvings - halvingsToOne(rows) - (ROW_FAILURES - 1);
  if (beyond <= 0) return { act: "verify", rowsMax: Math.max(1, Math.ceil(rows / 2 ** halvings)) };
  return { act: beyond <= GIVE_UP_FAILURES ? "give_up_row" : "fail" };
}

/**
 * Returns the attempts to count for what is left of a chunk once some of its rows are finished: what failed before is
 * among the next rows, of which the next attempt takes half as many. 0 where the search has ended.
 */
export function attemptsAfter(attempt: number, rows: number): number {
  const halvings = halvingsAt(attempt);
  return halvings > 0 && halvings <= halvingsToOne(rows) ? attemptsAfterFailure(attempt) : 0;
}

/** Returns the attempts to count for a chunk that failed by itself, not because its process ended. */
export function attemptsAfterFailure(attempt: number): number {
  return attempt - 1 + FAILURE_ATTEMPTS;
}

/** How often the rows of a chunk are halved at an attempt; below 1 all of them are taken. */
function halvingsAt(attempt: number): number {
  return Math.floor((attempt - 1) / FAILURE_ATTEMPTS) + 1 - WHOLE_FAILURES;
}

function halvingsToOne(rows: number): number {
  return Math.ceil(Math.log2(Math.max(1, rows)));
}
