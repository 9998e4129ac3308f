/**
 * The number of queries that some work may still send. A question is one query, plus one for each reply that was truncated
 * or only named an alias; retries after a time-out are not counted.
 */
export type QueryAllowance = { left: number };

/** Queries reserved for a question, so that its repetition by TCP is within the allowance too. */
export const QUERIES_PER_QUESTION = 2;

/** The detail of a look-up that was not made because the allowance was spent. */
export const NOT_ALLOWED = "not_allowed";
