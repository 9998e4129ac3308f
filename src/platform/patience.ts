/** A deadline for consecutive steps, with one timer for all of them. */
export type Patience = {
  /** Starts a step, or restarts it. Unless it ends in time, `onLate` is called once. */
  readonly begin: () => void;
  readonly end: () => void;
  /** Releases the timer. */
  readonly close: () => void;
};

/** Checks in the time of one step, so that `onLate` comes late by at most the time between two. */
const TICKS = 10;

/** Calls `onLate` for a step that takes longer than `ms` milliseconds, up to a tenth later. */
export function createPatience(ms: number, onLate: () => void): Patience {
  let tick = 0;
  /** Null while nothing is awaited. */
  let begunTick: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    timer = undefined;
    tick += 1;
    if (begunTick === null) return;
    if (tick - begunTick <= TICKS) timer = setTimeout(look, ms / TICKS);
    else {
      begunTick = null;
      onLate();
    }
  };
  return {
    begin() {
      // Setting a flag costs less than setting a timer or reading a clock.
      begunTick = tick;
      timer ??= setTimeout(look, ms / TICKS);
    },
    end() {
      begunTick = null;
    },
    close() {
      begunTick = null;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
