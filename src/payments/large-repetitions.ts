import { createFairShares } from "../billing/fair-shares.ts";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { createSemaphore } from "../platform/semaphore.ts";

/** Bounds how many large answers are given again at a time, and how often: it is free, and takes some 100 ms of CPU for each. */
export type LargeRepetitions = {
  /**
   * Works in one of the tenant's places. Throws `rate_limited` where it has none left; the service itself, which has no
   * tenant, waits for one of its own.
   */
  readonly inPlace: <T>(tenant: string | undefined, work: () => Promise<T>) => Promise<T>;
};

/** One tenant alone has two of them, and each of those who come later has one. */
const PLACES = { capacity: 4, ratio: 1, guaranteed: 1 };
const OWN_PLACES = 2;
/** A place is free again this long after its work, so that a tenant that repeats all the time leaves most of the CPU. */
const REST_MS = 1000;

export function createLargeRepetitions(clock: Pick<Clock, "monotonic">): LargeRepetitions {
  const places = createFairShares(PLACES);
  const own = createSemaphore(OWN_PLACES);
  /** In the order of their ends. */
  const resting: { readonly tenant: string; readonly untilMs: number }[] = [];

  function endRests(): void {
    const nowMs = clock.monotonic();
    for (let [first] = resting; first !== undefined && first.untilMs <= nowMs; [first] = resting) {
      places.release(first.tenant, 1);
      resting.shift();
    }
  }

  async function inOwn<T>(work: () => Promise<T>): Promise<T> {
    const release = await own.acquire();
    return work().finally(release);
  }

  return {
    inPlace(tenant, work) {
      if (tenant === undefined) return inOwn(work);
      endRests();
      if (!places.take(tenant, 1)) {
        const message = "Large answers are given again a few at a time.";
        return Promise.reject(new ApiError("rate_limited", message, { retryAfterSeconds: REST_MS / 1000 }));
      }
      return work().finally(() => resting.push({ tenant, untilMs: clock.monotonic() + REST_MS }));
    },
  };
}
