import { setImmediate as nextTurn } from "node:timers/promises";

/** Runs one step of a long work, which takes few milliseconds. */
export type Steps = <T>(step: () => T) => Promise<T>;

/** Runs a step at once: of a work that is short as a whole. */
export const atOnce: Steps = async (step) => step();

/** After so much work the event loop has its turn. */
const WORK_MS_MAX = 4;

/**
 * Runs steps in the order in which they come, of all who share it, and lets the event loop go on after each 4 ms of work:
 * what else waits is behind no more than that and one step.
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
