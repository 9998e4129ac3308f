import { setImmediate as nextTurn } from "node:timers/promises";

/** Runs one step of a long computation. A step takes a few milliseconds. */
export type Steps = <T>(step: () => T) => Promise<T>;

/** Runs a step at once, for a computation that is short as a whole. */
export const atOnce: Steps = async (step) => step();

/** A longer text or body is worked on in steps: of this length it takes about 1 ms. */
export const AT_ONCE_BYTES_MAX = 131_072;

/** Returns how a computation over a text of this length is run: a short one at once, behind nobody. */
export function stepsFor(bytes: number, step: Steps): Steps {
  return bytes > AT_ONCE_BYTES_MAX ? step : atOnce;
}

/** Work between two turns of the event loop. */
export const WORK_MS_MAX = 4;

/**
 * Runs the steps of all its callers first come, first served, and yields to the event loop after each 4 ms of work, so
 * that other work waits for at most 4 ms and one step.
 */
export function createSteps(monotonic: () => number): Steps {
  let last: Promise<unknown> = Promise.resolve();
  let workedMs = 0;
  return (step) => {
    const done = last.then(async () => {
      if (workedMs >= WORK_MS_MAX) {
        await nextTurn();
        workedMs = 0;
      }
      const startedMs = monotonic();
      try {
        return step();
      } finally {
        workedMs += monotonic() - startedMs;
      }
    });
    last = done.catch(() => undefined);
    return done;
  };
}
