import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { createSemaphore } from "../platform/semaphore.ts";
import { createTally } from "../platform/tally.ts";

/** Bounds how many large answers are given again at a time, and how often: it is free, and takes some 100 ms of CPU for each. */
export type LargeRepetitions = {
  /**
   * Works in one of the tenant's places. Throws `rate_limited` where it has none left, or its turn does not come in time;
   * the service itself, which has no tenant, waits for one of its own.
   */
  readonly inPlace: <T>(tenant: string | undefined, work: () => Promise<T>) => Promise<T>;
};

/** Of one tenant, in work, waiting or at rest. With so few of each, first come, first served is fair to all. */
const TENANT_PLACES = 2;
/** Beyond these a tenant has none. */
const TENANTS_MAX = 1000;
/** In work at a time, of all tenants: an answer of 8 MB takes several times as much memory meanwhile. */
const WORKING_MAX = 4;
const OWN_PLACES = 2;
const WAIT_MS_MAX = 10_000;
/** A place is free again this long after its work, so that a tenant that repeats all the time leaves most of the CPU. */
const REST_MS = 1000;

/** `deadline` returns a signal that ends a wait. */
export function createLargeRepetitions(
  clock: Pick<Clock, "monotonic">,
  deadline = () => AbortSignal.timeout(WAIT_MS_MAX),
): LargeRepetitions {
  const taken = createTally();
  const working = createSemaphore(WORKING_MAX);
  const own = createSemaphore(OWN_PLACES);
  /** In the order of their ends. */
  const resting: { readonly tenant: string; readonly untilMs: number }[] = [];

  function endRests(): void {
    const nowMs = clock.monotonic();
    for (let [first] = resting; first !== undefined && first.untilMs <= nowMs; [first] = resting) {
      taken.add(first.tenant, -1);
      resting.shift();
    }
  }

  function hasPlace(tenant: string): boolean {
    const count = taken.count(tenant);
    return count < TENANT_PLACES && (count > 0 || taken.size() < TENANTS_MAX);
  }

  async function inOwn<T>(work: () => Promise<T>): Promise<T> {
    const release = await own.acquire();
    return work().finally(release);
  }

  async function inTenants<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    endRests();
    if (!hasPlace(tenant)) throw refusal();
    taken.add(tenant, 1);
    const release = await working.acquire(deadline()).catch(() => {
      taken.add(tenant, -1);
      throw refusal();
    });
    try {
      return await work();
    } finally {
      release();
      resting.push({ tenant, untilMs: clock.monotonic() + REST_MS });
    }
  }

  return {
    inPlace: (tenant, work) => (tenant === undefined ? inOwn(work) : inTenants(tenant, work)),
  };
}

function refusal(): ApiError {
  const message = "Large answers are given again a few at a time.";
  return new ApiError("rate_limited", message, { retryAfterSeconds: REST_MS / 1000 });
}
