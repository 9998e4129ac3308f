import { createPacedSteps } from "../platform/paced-steps.ts";

/**
 * Turns of the event loop for work that holds the main thread for milliseconds, as changes do that wait for the disk:
 * one at a time, and other calls in between.
 */
export type FairTurns = {
  /** Resolves when it is the tenant's turn: the work is what follows at once. Tenants that wait take turns. */
  readonly turnOf: (tenant: string) => Promise<void>;
};

export function createFairTurns(monotonic: () => number): FairTurns {
  /** The tenant that is next comes first. */
  const queues = new Map<string, (() => void)[]>();
  let waiting = 0;
  const turns = createPacedSteps({
    step: beginNext,
    left: () => waiting,
    monotonic,
    stepsATurn: 1,
    workMsATurn: 1,
  });

  function beginNext(): void {
    for (const [tenant, queue] of queues) {
      queues.delete(tenant);
      const begin = queue.shift();
      if (queue.length > 0) queues.set(tenant, queue);
      waiting -= 1;
      begin?.();
      return;
    }
  }

  return {
    turnOf: (tenant) =>
      new Promise((resolve) => {
        const queue = queues.get(tenant) ?? [];
        queue.push(resolve);
        queues.set(tenant, queue);
        waiting += 1;
        turns.wake();
      }),
  };
}
