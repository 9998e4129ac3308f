import { LRUCache } from "lru-cache";
import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import { isEncodable } from "../dns/name.ts";
import { isAddress, isPublicAddress } from "../dns/public-address.ts";
import { NOT_ALLOWED, type QueryAllowance } from "../dns/query-allowance.ts";
import type { Clock } from "../platform/clock.ts";
import { madeOnce } from "../platform/made-once.ts";

/** The resolution of a mail host. */
export type MailHost = {
  /** `not_asked`: the query allowance was used up. */
  readonly reach: "public" | "private" | "dead" | "literal" | "timeout" | "error" | "not_asked";
  /** The name is an alias. */
  readonly alias: boolean;
  /** A look-up failed, whatever the other one found. */
  readonly hasFailed: boolean;
  /** The expiry, on `Clock.monotonic`. */
  readonly expiresAt: number;
};

type KnownHost = MailHost & { readonly epoch: number };

export type MailHosts = {
  /** Returns a host that is cached and has not expired. */
  readonly knownHost: (host: string) => MailHost | undefined;
  /** Resolves a host, in lower case without the last dot. Never rejects. */
  readonly reachOf: (host: string, allowance: QueryAllowance) => Promise<MailHost>;
};

const HOSTS_MAX = 50_000;

/**
 * Resolves mail hosts with a cache, as few hosts serve most domains. AAAA is looked up only where A has no public address.
 */
export function createMailHosts({
  cache,
  clock,
  epoch = () => 0,
}: {
  readonly cache: DnsCache;
  readonly clock: Clock;
  /** Results of another epoch are invalid. */
  readonly epoch?: () => number;
}): MailHosts {
  const known = madeOnce(
    () =>
      new LRUCache<string, KnownHost>({
        max: HOSTS_MAX,
        perf: { now: clock.monotonic },
        ttlResolution: 0,
      }),
  );
  /** Single flight; at most as many as there are look-ups. */
  const inFlight = new Map<string, Promise<MailHost>>();

  function knownHost(host: string): MailHost | undefined {
    const cached = known.get().get(host);
    return cached !== undefined && cached.epoch === epoch() ? cached : undefined;
  }

  function reachOf(host: string, allowance: QueryAllowance): Promise<MailHost> {
    const cached = knownHost(host);
    if (cached !== undefined) return Promise.resolve(cached);
    const same = inFlight.get(host);
    if (same !== undefined)
      return same.then((found) => (found.reach === "not_asked" ? resolveAndCache(host, allowance) : found));
    const fixed = reachWithoutDns(host);
    if (fixed !== null) {
      return Promise.resolve({
        reach: fixed,
        alias: false,
        hasFailed: false,
        expiresAt: Number.POSITIVE_INFINITY,
      });
    }
    const work = resolveAndCache(host, allowance);
    inFlight.set(host, work);
    return work;
  }

  async function resolveAndCache(host: string, allowance: QueryAllowance): Promise<MailHost> {
    const startEpoch = epoch();
    const found = await resolve(cache, host, allowance);
    inFlight.delete(host);
    if (found.reach === "not_asked") return found;
    const ttlMs = found.expiresAt - clock.monotonic();
    if (ttlMs > 0) known.get().set(host, { ...found, epoch: startEpoch }, { ttl: ttlMs });
    return found;
  }

  return { knownHost, reachOf };
}

/**
 * Names that are not looked up: IP addresses, invalid host names, and the names of the local machine (RFC 6761, 6.3).
 */
function reachWithoutDns(host: string): "literal" | "private" | "dead" | null {
  if (isAddress(host)) return isPublicAddress(host) ? "literal" : "private";
  if (!isEncodable(host)) return "dead";
  return host === "localhost" || host.endsWith(".localhost") ? "private" : null;
}

async function resolve(cache: DnsCache, host: string, allowance: QueryAllowance): Promise<MailHost> {
  const a = await cache.lookUp(host, "A", allowance);
  const settled = a.outcome === "nxdomain" || hasPublic(a);
  // A server that times out for one type does so for the other: asking again would only double the wait.
  if (settled || a.outcome === "timeout") return reachFrom([a]);
  return reachFrom([a, await cache.lookUp(host, "AAAA", allowance)]);
}

type AddressLookup = CachedLookup<"A"> | CachedLookup<"AAAA">;

function reachFrom(lookups: readonly AddressLookup[]): MailHost {
  return {
    reach: bestReach(lookups),
    alias: lookups.some(({ alias }) => alias),
    hasFailed: lookups.some(({ outcome }) => outcome === "timeout" || outcome === "error"),
    expiresAt: Math.min(...lookups.map(({ expiresAt }) => expiresAt)),
  };
}

function bestReach(lookups: readonly AddressLookup[]): MailHost["reach"] {
  if (lookups.some(hasPublic)) return "public";
  if (lookups.some(({ detail }) => detail === NOT_ALLOWED)) return "not_asked";
  if (lookups.some(({ outcome }) => outcome === "timeout")) return "timeout";
  if (lookups.some(({ outcome }) => outcome === "error")) return "error";
  return lookups.some(({ outcome }) => outcome === "answer") ? "private" : "dead";
}

function hasPublic(lookup: AddressLookup): boolean {
  return lookup.records.some(isPublicAddress);
}
