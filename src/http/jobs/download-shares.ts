import { createShares } from "../../batch/shares.ts";
import { createRateLimiter, type Rate } from "../../billing/rate-limiter.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Clock } from "../../platform/clock.ts";

/** Bounds the results that are in memory for readers who take their time: downloads cost no units. */
export type DownloadShares = {
  /** Counts a download until it is disposed of; throws `overloaded` over the tenant's share. */
  readonly enter: (tenant: string) => Disposable;
  /**
   * Whether a reply of this many bytes may be one buffer: that has a length, but nothing shows when it was read, so that its
   * download ends before.
   */
  readonly mayBeWhole: (tenant: string, bytes: number) => boolean;
};

/** Downloads at a time: each holds some 2 MB for a reader that stops, in parts that are ready and in the connection. */
const DOWNLOADS_MAX = 64;
const DOWNLOADS_GUARANTEED = 4;
const DOWNLOADS_OVERFLOW = 4;
/** The connection itself holds about as much as this. */
const UNCOUNTED_BYTES_MAX = 65_536;
/** Whole replies above that size. */
const WHOLE_RATE: Rate = { requestsPerSecond: 1, burst: 32 };

export function createDownloadShares({ clock }: { readonly clock: Clock }): DownloadShares {
  const places = createShares({
    capacity: DOWNLOADS_MAX,
    guaranteed: DOWNLOADS_GUARANTEED,
    guaranteedFirst: 1,
    overflow: DOWNLOADS_OVERFLOW,
  });
  const whole = createRateLimiter({ clock });
  return {
    enter(tenant) {
      if (!places.acquire(tenant, 1)) {
        throw new ApiError("overloaded", "This account reads too many results at once; end some first.");
      }
      return { [Symbol.dispose]: () => places.release(tenant, 1) };
    },
    mayBeWhole: (tenant, bytes) => bytes <= UNCOUNTED_BYTES_MAX || whole.take(tenant, WHOLE_RATE).allowed,
  };
}
