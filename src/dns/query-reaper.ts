import type { Clock } from "../platform/clock.ts";

/** Checks for due work every 10 ms, from `start` to `stop`. Both may be called again. */
export type QueryReaper = { readonly start: () => void; readonly stop: () => void };

const REAP_MS = 10;
/** After such a gap between two checks the process was busy, and has received replies to read first. */
const BUSY_GAP_MS = 100;

/** Skips `reap` after a gap, but not twice in a row: otherwise a busy process would never reap. */
export function createQueryReaper(clock: Clock, reap: (now: number) => void): QueryReaper {
  let timer: ReturnType<typeof setInterval> | null = null;
  let checkedAt = 0;
  let isSkipped = false;

  function check(): void {
    const now = clock.monotonic();
    isSkipped = now - checkedAt > BUSY_GAP_MS && !isSkipped;
    checkedAt = now;
    if (!isSkipped) reap(now);
  }

  return {
    start() {
      if (timer !== null) return;
      checkedAt = clock.monotonic();
      timer = setInterval(check, REAP_MS);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
