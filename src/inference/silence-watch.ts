import { pause } from "../platform/pause.ts";

/** Knows whether a server is silent, by questions that no caller has shaped: calls are slow for reasons of their own. */
export type SilenceWatch = AsyncDisposable & {
  readonly isSilent: () => boolean;
  /** Calls fail: begins to ask, unless it asks already, until there is a reply. */
  readonly suspect: () => void;
  /** A call was answered. */
  readonly noteReply: () => void;
};

/** A server that was restarting, or busy for a moment, misses one. */
const MISSED_MAX = 1;

/** Creates a watch over a server; `ask` resolves with whether it replies at all, and stops with the signal. */
export function createSilenceWatch(
  ask: (signal: AbortSignal) => Promise<boolean>,
  { betweenMs }: { readonly betweenMs: number },
): SilenceWatch {
  let missed = 0;
  let stop: AbortController | null = null;
  let watching: Promise<void> = Promise.resolve();

  function end(): void {
    missed = 0;
    stop?.abort();
    stop = null;
  }

  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isHeard = await ask(signal);
      if (signal.aborted) return;
      if (isHeard) return end();
      missed += 1;
      await pause(betweenMs, signal);
    }
  }

  return {
    isSilent: () => missed > MISSED_MAX,
    suspect() {
      if (stop !== null) return;
      stop = new AbortController();
      watching = watch(stop.signal);
    },
    noteReply: end,
    async [Symbol.asyncDispose]() {
      end();
      await watching;
    },
  };
}
