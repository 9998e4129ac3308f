import { within } from "../platform/within.ts";

/**
 * Tries one item after the other: the next as soon as those before it have failed, or have been silent for
 * `shareMs`. They may still succeed; the first success counts and the signals of the others are aborted. Throws the
 * last failure.
 */
export async function firstSuccess<Item, Success>(
  items: readonly Item[],
  shareMs: number,
  attempt: (item: Item, signal: AbortSignal) => Promise<Success>,
): Promise<Success> {
  const controllers: AbortController[] = [];
  const attempts: Promise<{ success: Success; from: AbortController }>[] = [];
  let failure: unknown = null;
  for (const [at, item] of items.entries()) {
    const controller = new AbortController();
    controllers.push(controller);
    attempts.push(attempt(item, controller.signal).then((success) => ({ success, from: controller })));
    const isLast = at === items.length - 1;
    try {
      const any = Promise.any(attempts);
      const first = isLast ? { result: await any } : await within(any, shareMs);
      if (first === null) continue;
      const { success, from } = first.result;
      for (const other of controllers) if (other !== from) other.abort();
      return success;
    } catch (error) {
      failure = error instanceof AggregateError ? error.errors.at(-1) : error;
    }
  }
  throw failure;
}
