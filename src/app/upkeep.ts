/** Between two removals of what is kept no longer. */
export const PRUNE_INTERVAL_MS = 600_000;
/** The same for kept replies, which are gone this long after their 24 hours at the latest. */
export const EXPIRE_INTERVAL_MS = 60_000;

/**
 * Does some upkeep again and again until the stack is disposed of, which aborts the signal, and never beside itself. Returns
 * what does it at once, or joins what is under way; it never rejects, as failures are reported.
 */
export function repeatUpkeep(
  work: (signal: AbortSignal) => unknown,
  { everyMs, reportError }: { readonly everyMs: number; readonly reportError: (error: unknown) => void },
  stack: AsyncDisposableStack,
): () => Promise<void> {
  const ended = new AbortController();
  let running: Promise<void> | null = null;
  const once = async () => {
    try {
      await work(ended.signal);
    } catch (error) {
      reportError(error);
    } finally {
      running = null;
    }
  };
  const run = () => {
    running ??= once();
    return running;
  };
  const timer = setInterval(() => void run(), everyMs);
  stack.defer(() => {
    clearInterval(timer);
    ended.abort();
  });
  return run;
}
