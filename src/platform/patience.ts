/** Watches steps that follow on one another, with one timer for all of them. */
export type Patience = {
  /** A step begins, or one begins anew; where it is not ended in time, `onLate` is called once. */
  readonly begin: () => void;
  readonly end: () => void;
  /** Lets go of the timer. */
  readonly close: () => void;
};

/** Looks within the time that is allowed; a step ends late by at most the time between two. */
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
      // To note it costs less than to set a timer, or to read a clock.
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
