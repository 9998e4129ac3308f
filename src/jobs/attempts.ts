/** What is done with a chunk at an attempt. */
export type AttemptPlan =
  /** At most so many of its rows, those behind the finished ones. */
  | { readonly act: "verify"; readonly rowsMax: number }
  /** Its next row has failed by itself: it becomes `check_failed` without being verified. */
  | { readonly act: "give_up_row" }
  /** Not even that can be done. */
  | { readonly act: "fail" };

/** Attempts at all that is left of a chunk, before fewer rows are taken. */
const WHOLE_ATTEMPTS = 5;
/** Attempts at one row by itself. A process that ends by chance costs one, too. */
const ROW_ATTEMPTS = 5;
const GIVE_UP_ATTEMPTS = 5;

/**
 * Returns what the attempt with this number does, from 1 on. After five attempts at a chunk of `rows` rows a half of them
 * is taken, then a quarter, down to one row, which is tried four or five times: what ends the process or the thread is
 * found after some sixteen more failures, and costs its own row alone.
 */
export function planAttempt(attempt: number, rows: number): AttemptPlan {
  const halvings = attempt - WHOLE_ATTEMPTS;
  if (halvings <= 0) return { act: "verify", rowsMax: rows };
  const beyond = halvings - halvingsToOne(rows) - (ROW_ATTEMPTS - 1);
  if (beyond <= 0) return { act: "verify", rowsMax: Math.max(1, Math.ceil(rows / 2 ** halvings)) };
  return { act: beyond <= GIVE_UP_ATTEMPTS ? "give_up_row" : "fail" };
}

/**
 * Returns the attempts to count for what is left of a chunk once some of its rows are finished: what failed before is
 * among the next rows, of which the next attempt takes half as many. 0 where the search has come to its end.
 */
export function attemptsAfter(attempt: number, rows: number): number {
  const halvings = attempt - WHOLE_ATTEMPTS;
  return halvings > 0 && halvings <= halvingsToOne(rows) ? attempt : 0;
}

function halvingsToOne(rows: number): number {
  return Math.ceil(Math.log2(Math.max(1, rows)));
}
