/** Bounds how many holders there are at a time. */
export type Semaphore = {
  /** Waits for a place, first come, first served, and returns its release. Throws the reason of the signal. */
  readonly acquire: (signal?: AbortSignal) => Promise<() => void>;
};

/** The number of waiting callers must be bounded by them. */
export function createSemaphore(places: number): Semaphore {
  const waiting = new Set<() => void>();
  let free = places;

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return {
    acquire(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const leave = () => {
        waiting.delete(begin);
        reject(signal?.reason);
      };
      const begin = () => {
        waiting.delete(begin);
        signal?.removeEventListener("abort", leave);
        let isHeld = true;
        resolve(() => {
          if (isHeld) giveBack();
          isHeld = false;
        });
      };
      if (signal?.aborted === true) reject(signal.reason);
      else if (free > 0) {
        free -= 1;
        begin();
      } else {
        waiting.add(begin);
        signal?.addEventListener("abort", leave, { once: true });
      }
      return promise;
    },
  };
}
