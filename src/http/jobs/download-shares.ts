import { createRateLimiter, type Rate } from "../../billing/rate-limiter.ts";
import type { Clock } from "../../platform/clock.ts";
import { createReaderPlaces } from "../reader-places.ts";

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

/** The connection itself holds about as much as this. */
const UNCOUNTED_BYTES_MAX = 65_536;
/** Whole replies above that size. */
const WHOLE_RATE: Rate = { requestsPerSecond: 1, burst: 32 };

export function createDownloadShares({ clock }: { readonly clock: Clock }): DownloadShares {
  const enter = createReaderPlaces("This account reads too many results at once; end some first.");
  const whole = createRateLimiter({ clock });
  return {
    enter,
    mayBeWhole: (tenant, bytes) => bytes <= UNCOUNTED_BYTES_MAX || whole.take(tenant, WHOLE_RATE).allowed,
  };
}
