import type { DomainFactsSource, FactsOptions, KnownDomain } from "../domains/facts.ts";
import type { Clock } from "../platform/clock.ts";
import { createShares } from "./shares.ts";

export type FairLookupsOptions = {
  readonly clock: Clock;
  /** Queries that the resolver has in flight at a time. */
  readonly queriesMax: number;
};

/**
 * Part of the queries in flight that tenants may have together; the rest is for those who are below their share when
 * they come, so that they need not wait until a silent server is given up.
 */
const SHARED_PART = 0.8;
/** A tenant has as many look-ups as this under way whatever the others have. */
const LOOKUPS_GUARANTEED = 32;
/** A look-up that takes longer is late: the resolver gives its place to others, and so does its tenant's share. */
const LATE_MS = 450;
/** Late look-ups under way for each query in flight. The resolver holds up to twelve. */
const LATE_PER_QUERY = 10;
/** Callers of one tenant that wait for their turn; those beyond get what is known at once. */
const WAITING_PER_TENANT_MAX = 20_000;

type Waiting = Set<() => void>;

/**
 * Wraps a source of facts so that `FactsOptions.tenant` has its share of the look-ups under way: a tenant whose domains
 * are silent waits for itself alone. What is known is not waited for. The wait ends at the caller's own deadline or
 * signal, and the source then returns what it has.
 */
export function createFairLookups(
  source: DomainFactsSource,
  { clock, queriesMax }: FairLookupsOptions,
): DomainFactsSource {
  const shares = createShares({
    capacity: Math.max(1, Math.floor(queriesMax * SHARED_PART)),
    guaranteed: LOOKUPS_GUARANTEED,
    guaranteedFirst: 1,
    overflow: 1 / SHARED_PART,
  });
  const late = createShares({
    capacity: queriesMax * LATE_PER_QUERY,
    guaranteed: LOOKUPS_GUARANTEED,
    overflow: 1,
  });
  const queues = new Map<string, Waiting>();

  async function findDomain(domain: string, options: FactsOptions): Promise<KnownDomain> {
    const { tenant = "" } = options;
    if (!options.dns) return await source.findDomain(domain, options);
    const known = source.knownDomain(domain, options);
    if (known !== undefined) return known;
    if (!shares.acquire(tenant, 1) && !(await turnOf(tenant, options))) {
      return await source.findDomain(domain, { ...options, deadlineMs: clock.monotonic() });
    }
    let isLate = false;
    const becomeLate = () => {
      if (!late.acquire(tenant, 1)) return;
      isLate = true;
      shares.release(tenant, 1);
      startNext();
    };
    const timer = setTimeout(becomeLate, LATE_MS);
    try {
      return await source.findDomain(domain, options);
    } finally {
      clearTimeout(timer);
      if (isLate) late.release(tenant, 1);
      else shares.release(tenant, 1);
      startNext();
    }
  }

  /** Waits until a look-up of the tenant may start, and counts it; false where the wait was given up. */
  function turnOf(tenant: string, { deadlineMs, signal }: FactsOptions): Promise<boolean> {
    const queue = queues.get(tenant) ?? new Set();
    queues.set(tenant, queue);
    if (queue.size >= WAITING_PER_TENANT_MAX || signal?.aborted === true) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (isStarted: boolean) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        queue.delete(start);
        if (queue.size === 0) queues.delete(tenant);
        resolve(isStarted);
      };
      const start = () => leave(true);
      const giveUp = () => leave(false);
      const timer =
        deadlineMs === undefined
          ? undefined
          : setTimeout(giveUp, Math.max(0, deadlineMs - clock.monotonic()));
      signal?.addEventListener("abort", giveUp, { once: true });
      queue.add(start);
    });
  }

  /** Of the tenants that wait, the one with the fewest look-ups under way is next. */
  function startNext(): void {
    let next: string | undefined;
    for (const tenant of queues.keys()) {
      if (next === undefined || shares.heldBy(tenant) < shares.heldBy(next)) next = tenant;
    }
    if (next === undefined || !shares.acquire(next, 1)) return;
    const [start] = queues.get(next) ?? [];
    start?.();
  }

  return { ...source, findDomain };
}
