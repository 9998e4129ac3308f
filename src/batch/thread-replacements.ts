import { setImmediate as nextTurn } from "node:timers/promises";

/** A thread in the place of one that ended is waited for no longer than this. */
const THREAD_START_MS_MAX = 10_000;
/** Returns what knows whether threads that ended have others in their place, which are ready. */
export function createReplacements() {
  let missing = 0;
  let waiting: (() => void)[] = [];
  return {
    watch(threads: { readonly on: (event: string, listener: () => void) => unknown }): void {
      threads.on("workerDestroy", () => {
        missing += 1;
      });
      threads.on("workerCreate", () => {
        missing = Math.max(0, missing - 1);
        if (missing > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      });
    },
    async all(): Promise<void> {
      // A thread that is being ended counts from the next turn on.
      await nextTurn();
      if (missing === 0) return;
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, THREAD_START_MS_MAX);
      waiting.push(timeout.resolve);
      await timeout.promise;
      clearTimeout(timer);
    },
  };
}
