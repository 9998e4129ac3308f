import { createFairShares } from "../billing/fair-shares.ts";
import { ApiError } from "../contract/errors.ts";

/** Bounds the payments that are not yet verified, which cost their senders nothing, and shares the places among tenants. */
export type VerificationTurns = {
  /** Verifies in the tenant's turn. Throws `overloaded` at once where its share of those that wait is used up. */
  readonly inTurn: <T>(tenant: string, verify: () => Promise<T>) => Promise<T>;
};

/** Payments that are verified at a time; one tenant alone has 32 of the places. */
const PLACES = { capacity: 48, ratio: 2, guaranteed: 0 };
/** For each tenant that comes while others have the rest. */
const UNVERIFIED_GUARANTEED = 2;

/**
 * Shares the places by `createFairShares`; of those who wait, tenants are served round robin. `unverifiedMax` bounds the
 * payments that are verified or wait for it: one tenant alone has half of them, all together may pass it by a quarter.
 */
export function createVerificationTurns({
  unverifiedMax,
}: {
  readonly unverifiedMax: number;
}): VerificationTurns {
  const unverified = createFairShares({
    capacity: unverifiedMax,
    ratio: 1,
    guaranteed: UNVERIFIED_GUARANTEED,
  });
  const places = createFairShares(PLACES);
  /** In the order of turns. */
  const queues = new Map<string, (() => void)[]>();

  function enter(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = queues.get(tenant) ?? [];
      queue.push(resolve);
      queues.set(tenant, queue);
      beginWaiting();
    });
  }

  /** Gives the free places to those who may have them; a tenant that was given one is the last to be given the next. */
  function beginWaiting(): void {
    for (const [tenant, queue] of queues) {
      if (!places.take(tenant, 1)) continue;
      queues.delete(tenant);
      const begin = queue.shift();
      if (queue.length > 0) queues.set(tenant, queue);
      begin?.();
    }
  }

  return {
    async inTurn(tenant, verify) {
      if (!unverified.take(tenant, 1)) {
        throw new ApiError("overloaded", "Too many payments of one address wait to be verified.");
      }
      await enter(tenant);
      try {
        return await verify();
      } finally {
        places.release(tenant, 1);
        unverified.release(tenant, 1);
        beginWaiting();
      }
    },
  };
}
