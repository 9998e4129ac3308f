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
    const from = new AbortController();
    controllers.push(from);
    attempts.push(attempt(item, from.signal).then((success) => ({ success, from })));
    const isLast = at === items.length - 1;
    try {
      const first = await within(Promise.any(attempts), isLast ? null : shareMs);
      if (first === null) continue;
      for (const other of controllers) if (other !== first.from) other.abort();
      return first.success;
    } catch (error) {
      failure = error instanceof AggregateError ? error.errors.at(-1) : error;
    }
  }
  throw failure;
}

/** Returns null where nothing has come by then. */
async function within<T>(promise: Promise<T>, ms: number | null): Promise<T | null> {
  if (ms === null) return promise;
  const { promise: silence, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
