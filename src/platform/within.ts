/** Resolves with the result of the work, or with null after `ms` milliseconds, when the work continues. Rejects as it does. */
export async function within<Result>(
  work: Promise<Result>,
  ms: number,
): Promise<{ readonly result: Result } | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), Math.max(0, ms));
  try {
    return await Promise.race([work.then((result) => ({ result })), late]);
  } finally {
    clearTimeout(timer);
  }
}
