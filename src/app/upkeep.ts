/**
 * Does some upkeep again and again until the stack is disposed of. Returns what does it at once; it never rejects, as
 * failures are reported.
 */
export function repeatUpkeep(
  work: () => unknown,
  { everyMs, reportError }: { readonly everyMs: number; readonly reportError: (error: unknown) => void },
  stack: AsyncDisposableStack,
): () => Promise<void> {
  const run = async () => {
    try {
      await work();
    } catch (error) {
      reportError(error);
    }
  };
  const timer = setInterval(() => void run(), everyMs);
  stack.defer(() => clearInterval(timer));
  return run;
}
