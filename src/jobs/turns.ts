/** Places of which a bounded number is taken at a time. */
export type Turns = {
  /** Waits for a place, behind those who came before, and returns what gives it back. Throws the reason of the signal. */
  readonly take: (signal: AbortSignal) => Promise<() => void>;
};

/** Bounded by those who ask. */
export function createTurns(places: number): Turns {
  const waiting = new Set<() => void>();
  let free = places;

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return {
    take(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const leave = () => {
        waiting.delete(begin);
        reject(signal.reason);
      };
      const begin = () => {
        waiting.delete(begin);
        signal.removeEventListener("abort", leave);
        let isTaken = true;
        resolve(() => {
          if (isTaken) giveBack();
          isTaken = false;
        });
      };
      if (signal.aborted) reject(signal.reason);
      else if (free > 0) {
        free -= 1;
        begin();
      } else {
        waiting.add(begin);
        signal.addEventListener("abort", leave, { once: true });
      }
      return promise;
    },
  };
}
