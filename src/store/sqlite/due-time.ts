/** When a table has something due next, remembered between writes: the embedded store has no other writer. */
export type DueTime = {
  /** Whether nothing is due by `until`. */
  readonly isNone: (until: number, now?: number) => boolean;
  /** To be called with each write that may make something due sooner, whether its transaction is kept or not. */
  readonly changed: () => void;
};

/**
 * Creates the memory of a due time, so that a server that has nothing to do looks at the clock only. `find` returns the
 * first due time after `now`, or null; it is asked again after a change, once the time has come, and where the clock is
 * set back. `isNone` is for looks outside of transactions: what one of them reads may be undone.
 */
export function createDueTime(find: (now: number) => number | null): DueTime {
  let dueAt: number | null | undefined;
  let foundAt = 0;
  return {
    isNone(until, now = until) {
      if (dueAt === undefined || now < foundAt || (dueAt !== null && dueAt <= until)) {
        dueAt = find(now);
        foundAt = now;
      }
      return dueAt === null || dueAt > until;
    },
    changed() {
      dueAt = undefined;
    },
  };
}
