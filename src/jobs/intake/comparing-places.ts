import { createSemaphore, type Semaphore } from "../../platform/semaphore.ts";

/** Bounds how many inputs are compared at a time, each of which takes memory for its rows. */
export type ComparingPlaces = {
  /**
   * Waits for a place, which is given back by its disposal. A tenant has at most one and waits for one at a time, so that
   * its other inputs hold nobody else up. Throws the reason of the signal.
   */
  readonly acquire: (tenant: string, signal: AbortSignal) => Promise<Disposable>;
};

/** Two, so that the input of one tenant does not wait for the largest of another. */
const PLACES = 2;

type Line = { readonly semaphore: Semaphore; inputs: number };

export function createComparingPlaces(): ComparingPlaces {
  const places = createSemaphore(PLACES);
  const lines = new Map<string, Line>();

  return {
    async acquire(tenant, signal) {
      using held = new DisposableStack();
      const line = lines.get(tenant) ?? { semaphore: createSemaphore(1), inputs: 0 };
      lines.set(tenant, line);
      line.inputs += 1;
      held.defer(() => {
        line.inputs -= 1;
        if (line.inputs === 0) lines.delete(tenant);
      });
      held.defer(await line.semaphore.acquire(signal));
      held.defer(await places.acquire(signal));
      return held.move();
    },
  };
}
