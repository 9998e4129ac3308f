/** Calls the work off when the caller leaves: look-ups, threads and its place are for those who wait for them. */
export function stopWhenGone({ signal }: Request, stop: AbortController): Disposable {
  const onGone = () => stop.abort();
  signal.addEventListener("abort", onGone, { once: true });
  if (signal.aborted) onGone();
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", onGone) };
}

/** Whether an error is no more than that the work was called off. */
export function isCalledOff(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && error instanceof Error && error.name === "AbortError";
}
