import { ApiError } from "../contract/errors.ts";
import { createTally } from "../platform/tally.ts";

/** The place of one scan. */
export type ScanPlace = {
  /** Resolves in the scan's turn; null where it is at once. */
  readonly turn: Promise<void> | null;
  /** Another tenant waits for the scan too: it may begin in his turn. */
  readonly share: (tenant: string) => void;
  /** Called once, when the scan has ended. */
  readonly release: () => void;
};

/** The places of the scans that run at once. */
export type ScanPlaces = {
  /** Throws `overloaded` where too many wait. */
  readonly acquire: (tenant: string) => ScanPlace;
  readonly stats: () => { readonly running: number; readonly waiting: number };
};

export type ScanPlacesOptions = {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
};

/** A scan that waits, and the tenants who wait for it in the order in which they asked. */
type Waiting = {
  readonly tenants: Set<string>;
  readonly begin: (tenant: string) => void;
};

/** Tenants of whom it is known when their last scan began; of the others it is longer ago. */
const BEGUN_MAX = 1000;

/**
 * Gives each free place to the tenant with the fewest scans running, among equals to the one whose last scan began longest
 * ago, then in order of arrival: who has many gets no other while one with fewer waits.
 */
export function createScanPlaces(options: ScanPlacesOptions): ScanPlaces {
  const { runningMax, waitingMax, waitingPerTenantMax } = options;
  const runningOf = createTally();
  const waitingOf = createTally();
  /** By tenant, in order: the number of the last scan that began. */
  const begun = new Map<string, number>();
  let scans = 0;
  /** In order of arrival, at most `waitingMax`. */
  const waiting = new Set<Waiting>();
  let running = 0;

  function isBefore(one: string, other: string): boolean {
    const more = runningOf.count(one) - runningOf.count(other);
    return more < 0 || (more === 0 && (begun.get(one) ?? 0) < (begun.get(other) ?? 0));
  }

  function beginNext(): void {
    let next: { readonly scan: Waiting; readonly tenant: string } | null = null;
    for (const scan of waiting) {
      for (const tenant of scan.tenants) {
        if (next === null || isBefore(tenant, next.tenant)) next = { scan, tenant };
      }
    }
    if (next === null) return;
    waiting.delete(next.scan);
    next.scan.begin(next.tenant);
  }

  function countBegun(tenant: string): void {
    running += 1;
    runningOf.add(tenant, 1);
    scans += 1;
    begun.delete(tenant);
    begun.set(tenant, scans);
    for (const oldest of begun.keys()) {
      if (begun.size <= BEGUN_MAX) break;
      begun.delete(oldest);
    }
  }

  function acquire(first: string): ScanPlace {
    let holder = first;
    const release = (): void => {
      running -= 1;
      runningOf.add(holder, -1);
      beginNext();
    };
    if (running < runningMax) {
      countBegun(first);
      return { turn: null, share: () => undefined, release };
    }
    if (waiting.size >= waitingMax || waitingOf.count(first) >= waitingPerTenantMax) {
      throw new ApiError("overloaded");
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const tenants = new Set([first]);
    waitingOf.add(first, 1);
    waiting.add({
      tenants,
      begin(tenant) {
        waitingOf.add(first, -1);
        holder = tenant;
        countBegun(tenant);
        resolve();
      },
    });
    return { turn: promise, share: (tenant) => void tenants.add(tenant), release };
  }

  return { acquire, stats: () => ({ running, waiting: waiting.size }) };
}
