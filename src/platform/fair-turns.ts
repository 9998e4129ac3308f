import { createPacedSteps } from "./paced-steps.ts";
import type { Steps } from "./steps.ts";

/**
 * Turns of the event loop for work that blocks the main thread for milliseconds, such as changes that wait for the disk:
 * one in each turn, so that other calls run in between.
 */
export type FairTurns = {
  /** Resolves in the tenant's turn, in which the caller does its work at once. Waiting tenants are served round robin. */
  readonly turnOf: (tenant: string) => Promise<void>;
};

/** Runs the steps of a long computation in a tenant's turns. */
export function stepsInTurn(turns: FairTurns, tenant: string): Steps {
  return async (step) => {
    await turns.turnOf(tenant);
    return step();
  };
}

export function createFairTurns(monotonic: () => number): FairTurns {
  /** In the order of turns. */
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
