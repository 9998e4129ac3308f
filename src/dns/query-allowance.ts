/**
 * How many queries a piece of work may still send. One question is one query, and one more for each reply that was
 * cut short or only named an alias; what a resolver repeats because nobody has answered is not counted.
 */
export type QueryAllowance = { left: number };

/** What a question takes until it is answered, so that its repetition by TCP is within the allowance too. */
export const QUERIES_PER_QUESTION = 2;

/** The detail of a look-up that was not made, because the allowance was spent. */
export const NOT_ALLOWED = "not_allowed";
