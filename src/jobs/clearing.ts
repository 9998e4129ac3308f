import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import type { JobPort } from "../store/job-port.ts";

/** Clears what the store keeps of erased rows beside its tables, as its log. */
export type Clearing = {
  /** To be called when something was erased. */
  readonly note: () => void;
  /** Resolves once all is cleared that was erased before the call, or that cannot be cleared now. */
  readonly clear: () => Promise<void>;
};

export type ClearingDependencies = {
  readonly store: Pick<JobPort, "clearErased">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly pause: (ms: number) => Promise<void>;
};

/** The rest after a clearing, for each millisecond that it took: it holds the main thread and waits for the disk. */
const REST_PER_MS = 9;

/** Those who wait are served by one clearing, and clearings take at most a tenth of the time. */
export function createClearing({ store, clock, pause }: ClearingDependencies): Clearing {
  /** A process before this one may have erased something. */
  let isDue = true;
  let next: Promise<void> | null = null;
  let restEndsMs = Number.NEGATIVE_INFINITY;

  async function clearOnce(): Promise<void> {
    await nextTurn();
    const restMs = restEndsMs - clock.monotonic();
    if (restMs > 0) await pause(restMs);
    // What is erased from here on waits for another one.
    next = null;
    if (!isDue) return;
    isDue = false;
    const begunMs = clock.monotonic();
    let isCleared = false;
    try {
      isCleared = await store.clearErased();
    } finally {
      if (!isCleared) isDue = true;
      const endedMs = clock.monotonic();
      restEndsMs = endedMs + (endedMs - begunMs) * REST_PER_MS;
    }
  }

  return {
    note() {
      isDue = true;
    },
    clear() {
      next ??= clearOnce();
      return next;
    },
  };
}
