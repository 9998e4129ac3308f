export class PoolFullError extends Error {
  override readonly name = "PoolFullError";
}

/** As many places as threads, and a first-come queue before them, so that a task's deadline starts when it runs. */
export function createSlots(places: number, waitingMax: number) {
  let free = places;
  const queue = new Set<() => void>();
  return {
    free: () => free,
    waiting: () => queue.size,
    async take(signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      if (queue.size >= waitingMax) throw new PoolFullError("The pool's queue is at its limit");
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        const leave = () => {
          queue.delete(enter);
          reject(signal?.reason);
        };
        queue.add(enter);
        signal?.addEventListener("abort", leave, { once: true });
      });
    },
    give(): void {
      const [next] = queue;
      if (next === undefined) {
        free += 1;
        return;
      }
      queue.delete(next);
      next();
    },
  };
}
