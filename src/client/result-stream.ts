import { linesOf } from "./body-lines.ts";
import { IncompleteReplyError } from "./failure.ts";

/** The results of a batch as they arrive, in the order of the request. It can be walked once. */
export type ResultStream<Result, Summary> = AsyncIterable<Result> & {
  /** The last line of the reply: null until the walk has ended. */
  readonly end: () => { readonly count: number; readonly summary: Summary } | null;
};

/** A reply whose body is still to be read, and the key of its call. */
export type OpenedReply = { readonly reply: Response; readonly idempotencyKey: string | null };

/**
 * Walks an NDJSON reply without holding more than what the network delivers at once. The call is sent at the
 * first step; leaving the walk early ends it. Throws IncompleteReplyError where the last line is missing.
 */
export function streamResults<Result, Summary>(
  open: () => Promise<OpenedReply>,
  signal: AbortSignal | undefined,
): ResultStream<Result, Summary> {
  let last: { readonly count: number; readonly summary: Summary } | null = null;

  async function* walk(): AsyncGenerator<Result, void, undefined> {
    const { reply, idempotencyKey } = await open();
    let received = 0;
    try {
      for await (const line of linesOf(reply)) {
        const value = JSON.parse(line);
        if (isLastLine<Summary>(value)) {
          last = value;
          return;
        }
        received += 1;
        yield value;
      }
    } catch (cause) {
      signal?.throwIfAborted();
      throw new IncompleteReplyError(received, { cause, idempotencyKey });
    }
    throw new IncompleteReplyError(received, { idempotencyKey });
  }

  const results = walk();
  return { [Symbol.asyncIterator]: () => results, end: () => last };
}

function isLastLine<Summary>(value: unknown): value is { count: number; summary: Summary } {
  return typeof value === "object" && value !== null && "count" in value && "summary" in value;
}
