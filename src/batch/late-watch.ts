import type { Clock } from "../platform/clock.ts";

/** Work that has begun and not ended, in the order of its begins. */
export type LateWatch<Work> = {
  readonly begin: (work: Work) => void;
  readonly end: (work: Work) => void;
};

/**
 * Calls `onLate` once with each work that has not ended `lateMs` after its begin. One timer serves all of it: thousands
 * begin and end within the time of one that is late.
 */
export function createLateWatch<Work>({
  clock,
  lateMs,
  onLate,
}: {
  readonly clock: Clock;
  readonly lateMs: number;
  readonly onLate: (work: Work) => void;
}): LateWatch<Work> {
  const begunAtMs = new Map<Work, number>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  function check(): void {
    timer = null;
    const nowMs = clock.monotonic();
    for (const [work, atMs] of begunAtMs) {
      const leftMs = atMs + lateMs - nowMs;
      if (leftMs > 0) {
        checkAfter(leftMs);
        return;
      }
      begunAtMs.delete(work);
      onLate(work);
    }
  }

  function checkAfter(ms: number): void {
    timer = setTimeout(check, Math.ceil(ms));
    timer.unref();
  }

  return {
    begin(work) {
      begunAtMs.set(work, clock.monotonic());
      if (timer === null) checkAfter(lateMs);
    },
    end: (work) => {
      begunAtMs.delete(work);
    },
  };
}
