import type { DomainFactsSource, FactsOptions } from "../domains/facts.ts";
import type { KnownDomain } from "../domains/known-domains.ts";
import type { Clock } from "../platform/clock.ts";
import { createPacedSteps } from "../platform/paced-steps.ts";
import { createWaitLimits } from "../platform/wait-limits.ts";
import { createLateWatch } from "./late-watch.ts";
import { createShares, type Shares } from "./shares.ts";

export type FairLookupsOptions = {
  readonly clock: Clock;
  /** Queries that the resolver has in flight at a time. */
  readonly queriesMax: number;
  /** Replies of the DNS that have come and wait for the main thread. */
  readonly repliesUnread: () => number;
};

/**
 * Part of the queries in flight that tenants may have together; the rest is for those who are below their share when
 * they come, so that they need not wait until a silent server is given up.
 */
const SHARED_PART = 0.8;
/** A tenant has as many queries as this under way whatever the others have. */
const QUERIES_GUARANTEED = 32;
/**
 * With this many replies unread the main thread is what look-ups wait for: more of them would only make all wait longer,
 * those too that are a tenant's first.
 */
const UNREAD_MAX = 16;
/** Of plain look-ups, each of which costs some 20 µs before anything is sent. */
const STARTS_A_TURN = 32;
const WORK_MS_A_TURN = 1;
/** A look-up that takes longer is late: the resolver gives its place to others, and so does its tenant's share. */
const LATE_MS = 450;
/** Late look-ups under way for each query in flight. The resolver holds up to twelve. */
const LATE_PER_QUERY = 10;
/** Callers of one tenant that wait for their turn; those beyond get what is known at once. */
const WAITING_PER_TENANT_MAX = 20_000;

/** What a look-up counts: its queries under way on average, and its starts in a turn. */
type Weight = { readonly queries: number; readonly starts: number };

const PLAIN: Weight = { queries: 1, starts: 1 };
/** It begins with three queries at once, which cost up to 0.1 ms, and goes on with one at a time. */
const DEEP: Weight = { queries: 2, starts: 4 };

/** A look-up that is counted. */
type Started = { readonly tenant: string; readonly queries: number; isLate: boolean };

type Waiting = Set<{ readonly queries: number; readonly start: () => void }>;

/**
 * Wraps a source of facts so that `FactsOptions.tenant` has its share of the look-ups under way: a tenant whose domains
 * are silent waits for itself alone. Where the main thread lags behind the replies, only a tenant's first look-up begins:
 * they never queue for it in numbers. What is known is not waited for. The wait ends at the caller's own deadline or
 * signal, and the source then returns what it has.
 */
export function createFairLookups(
  source: DomainFactsSource,
  { clock, queriesMax, repliesUnread }: FairLookupsOptions,
): DomainFactsSource {
  const shares = createShares({
    capacity: Math.max(1, Math.floor(queriesMax * SHARED_PART)),
    guaranteed: QUERIES_GUARANTEED,
    guaranteedFirst: DEEP.queries,
    overflow: 1 / SHARED_PART,
  });
  const late = createShares({
    capacity: queriesMax * LATE_PER_QUERY,
    guaranteed: QUERIES_GUARANTEED,
    overflow: 1,
  });
  const lateness = createLateWatch<Started>({ clock, lateMs: LATE_MS, onLate: becomeLate });
  const limits = createWaitLimits(clock);
  const queues = new Map<string, Waiting>();
  /** Whether one of those who wait may start, as far as is known. */
  let mayStart = false;
  let startsLeft = STARTS_A_TURN;
  const starting = createPacedSteps({
    step: startNext,
    left: () => (mayStart ? queues.size : 0) * STARTS_A_TURN,
    monotonic: clock.monotonic,
    stepsATurn: STARTS_A_TURN,
    workMsATurn: WORK_MS_A_TURN,
  });

  function findDomain(domain: string, options: FactsOptions): Promise<KnownDomain> {
    if (!options.dns) return source.findDomain(domain, options);
    const known = source.knownDomain(domain, options);
    if (known !== undefined) return Promise.resolve(known);
    const { tenant = "", deep } = options;
    const weight = deep ? DEEP : PLAIN;
    const { queries } = weight;
    if (startsAtOnce(tenant, weight)) return findStarted(domain, options, { tenant, queries });
    return turnOf(tenant, queries, options).then((isStarted) =>
      isStarted
        ? findStarted(domain, options, { tenant, queries })
        : source.findDomain(domain, { ...options, deadlineMs: clock.monotonic() }),
    );
  }

  /** Finds a domain that is counted already, and releases its share once it is found or late. */
  function findStarted(
    domain: string,
    options: FactsOptions,
    { tenant, queries }: Pick<Started, "tenant" | "queries">,
  ): Promise<KnownDomain> {
    const started: Started = { tenant, queries, isLate: false };
    lateness.begin(started);
    const ended = () => {
      lateness.end(started);
      release(started.isLate ? late : shares, started);
    };
    return source.findDomain(domain, options).then(
      (found) => {
        ended();
        return found;
      },
      (error: unknown) => {
        ended();
        throw error;
      },
    );
  }

  function becomeLate(started: Started): void {
    if (!late.acquire(started.tenant, started.queries)) return;
    started.isLate = true;
    release(shares, started);
  }

  function release(held: Shares, { tenant, queries }: Started): void {
    held.release(tenant, queries);
    wake();
  }

  function wake(): void {
    mayStart = true;
    starting.wake();
  }

  const isBehind = () => repliesUnread() > UNREAD_MAX;

  /** A tenant's first look-up never waits for those of others that are many. */
  function startsAtOnce(tenant: string, { queries, starts }: Weight): boolean {
    if (shares.heldBy(tenant) > 0 && (startsLeft <= 0 || queues.size > 0 || isBehind())) return false;
    if (!shares.acquire(tenant, queries)) return false;
    if (startsLeft === STARTS_A_TURN) setImmediate(beginTurn);
    startsLeft -= starts;
    return true;
  }

  function beginTurn(): void {
    startsLeft = STARTS_A_TURN;
  }

  /** Waits until a look-up of the tenant may start, and counts it; false where the wait was given up. */
  function turnOf(tenant: string, queries: number, options: FactsOptions): Promise<boolean> {
    const queue: Waiting = queues.get(tenant) ?? new Set();
    if (queue.size >= WAITING_PER_TENANT_MAX || options.signal?.aborted === true) {
      return Promise.resolve(false);
    }
    queues.set(tenant, queue);
    return new Promise((resolve) => {
      const leave = (isStarted: boolean) => {
        limits.ended(wait);
        queue.delete(waiting);
        if (queue.size === 0) queues.delete(tenant);
        resolve(isStarted);
      };
      const waiting = { queries, start: () => leave(true) };
      const wait = limits.begin(options, () => leave(false));
      queue.add(waiting);
      wake();
    });
  }

  /** Of the tenants that wait, the one with the fewest queries under way is next. */
  function startNext(): void {
    let next: string | undefined;
    for (const tenant of queues.keys()) {
      if (next === undefined || shares.heldBy(tenant) < shares.heldBy(next)) next = tenant;
    }
    const [waiting] = (next === undefined ? undefined : queues.get(next)) ?? [];
    if (next === undefined || waiting === undefined) return;
    if (isBehind() && shares.heldBy(next) > 0) return;
    mayStart = shares.acquire(next, waiting.queries);
    if (mayStart) waiting.start();
  }

  return { ...source, findDomain };
}
