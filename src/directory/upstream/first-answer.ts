/**
 * Asks one address after the other: the next as soon as those before it have failed, or have been silent for
 * `shareMs`. They may still answer; the first answer counts and the others are given up. Throws the last failure.
 */
export async function firstAnswer(
  addresses: readonly string[],
  shareMs: number,
  ask: (address: string, signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const controllers: AbortController[] = [];
  const answers: Promise<{ response: Response; from: AbortController }>[] = [];
  let failure: unknown = null;
  for (const [at, address] of addresses.entries()) {
    const from = new AbortController();
    controllers.push(from);
    answers.push(ask(address, from.signal).then((response) => ({ response, from })));
    const isLast = at === addresses.length - 1;
    try {
      const answer = await within(Promise.any(answers), isLast ? null : shareMs);
      if (answer === null) continue;
      for (const other of controllers) if (other !== answer.from) other.abort();
      return answer.response;
    } catch (error) {
      failure = error instanceof AggregateError ? error.errors.at(-1) : error;
    }
  }
  throw failure;
}

/** Null where nothing has come by then. */
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
