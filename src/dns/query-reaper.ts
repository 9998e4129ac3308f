import type { Clock } from "../platform/clock.ts";

/** What looks every 10 ms whether something is due, from `start` to `stop`. Both may be called again. */
export type QueryReaper = { readonly start: () => void; readonly stop: () => void };

const REAP_MS = 10;
/** After such a gap the process was busy elsewhere, and replies that came meanwhile have yet to be read. */
const BUSY_GAP_MS = 100;

/** `reap` is left out after a gap, once and not twice in a row: else a process that is always busy would end nothing. */
export function createQueryReaper(clock: Clock, reap: (now: number) => void): QueryReaper {
  let timer: ReturnType<typeof setInterval> | null = null;
  let lookedAt = 0;
  let isLeftOut = false;

  function look(): void {
    const now = clock.monotonic();
    isLeftOut = now - lookedAt > BUSY_GAP_MS && !isLeftOut;
    lookedAt = now;
    if (!isLeftOut) reap(now);
  }

  return {
    start() {
      if (timer !== null) return;
      lookedAt = clock.monotonic();
      timer = setInterval(look, REAP_MS);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
