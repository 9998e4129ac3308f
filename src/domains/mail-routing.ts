import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { QueryAllowance } from "../dns/query-allowance.ts";
import type { MailRouting } from "../verification/email/domain-facts.ts";
import { isMajorProvider } from "../verification/email/providers.ts";
import { hostsByPreference, isNotAsked, isUnusable, summarize } from "./exchangers.ts";
import type { MailHost, MailHosts } from "./mail-hosts.ts";

export type RoutingFinding = {
  readonly mail: MailRouting;
  /** The expiry, on `Clock.monotonic`. */
  readonly expiresAt: number;
};

export type RouteOptions = {
  readonly allowance: QueryAllowance;
  /** Queries reserved for the preferred exchangers; those left over are added to the allowance. */
  readonly preferredAllowance: QueryAllowance;
  /** Called with exchangers that are not cached before they are resolved, as routing whose targets are unknown. */
  readonly onHosts?: (mail: MailRouting) => void;
  /** Called when the left-over queries are added. */
  readonly onReturned?: (() => void) | undefined;
  /** Settles before the other exchangers are looked up. */
  readonly before?: Promise<unknown> | null;
};

export type MailRoutes = {
  /** Finds where mail for a domain goes (RFC 5321, 5.1). Never rejects. */
  readonly routeOf: (domain: string, options: RouteOptions) => Promise<RoutingFinding>;
};

/** Exchangers that are resolved at a time, the preferred first; further ones only where none of them is usable. */
const HOSTS_TOGETHER = 16;

/** Creates the routing. A failed look-up never makes a domain missing, nor its MX implicit. */
export function createMailRouting(dependencies: {
  readonly cache: DnsCache;
  readonly mailHosts: MailHosts;
}): MailRoutes {
  const { cache, mailHosts } = dependencies;

  function routeOf(domain: string, options: RouteOptions): Promise<RoutingFinding> {
    return cache
      .lookUp(domain, "MX", options.allowance)
      .then((mx) =>
        mx.outcome === "answer" ? routeByExchangers(mx, options) : routeWithoutMx(domain, mx, options),
      );
  }

  async function routeWithoutMx(
    domain: string,
    mx: CachedLookup<"MX">,
    options: RouteOptions,
  ): Promise<RoutingFinding> {
    const { mail, expiresAt } = await routeByOwnName(domain, mx, options.allowance);
    returnQueries(options);
    return { mail: isDenied(mail) && isMajorProvider(domain) ? { state: "error" } : mail, expiresAt };
  }

  async function routeByOwnName(
    domain: string,
    mx: CachedLookup<"MX">,
    allowance: QueryAllowance,
  ): Promise<RoutingFinding> {
    if (mx.outcome === "nxdomain") return { mail: { state: "no_domain" }, expiresAt: mx.expiresAt };
    if (mx.outcome !== "nodata") {
      return { mail: { state: mx.outcome === "timeout" ? "timeout" : "error" }, expiresAt: mx.expiresAt };
    }
    const host = await mailHosts.reachOf(domain, allowance);
    // An AAAA beside an A that failed is an address for exchangers, but no ground for a verdict on the domain itself.
    const isUnsure = host.reach === "public" && host.hasFailed;
    const mail: MailRouting = isUnsure ? { state: "error" } : IMPLICIT[host.reach];
    return { mail, expiresAt: Math.min(mx.expiresAt, host.expiresAt) };
  }

  /** At once where all hosts are cached: so are those of most domains that nobody asked for before. */
  function routeByExchangers(
    mx: CachedLookup<"MX">,
    options: RouteOptions,
  ): RoutingFinding | Promise<RoutingFinding> {
    const hosts = hostsByPreference(mx.records);
    const nullMixed = mx.records.some(({ exchange }) => exchange === ".");
    const first = hosts.slice(0, HOSTS_TOGETHER);
    const known = knownHosts(first);
    if (known !== null && (known.length === hosts.length || !known.every(isUnusable))) {
      returnQueries(options);
      return byHosts(mx, hosts, known, nullMixed);
    }
    const targets = { targets: "unknown", cname: false, partlyDead: false } as const;
    options.onHosts?.({ state: "mx", hosts, ...targets, nullMixed });
    return resolveHosts(hosts, options).then((resolved) => byHosts(mx, hosts, resolved, nullMixed));
  }

  /** Resolves exchangers within the allowance, in order of preference. */
  async function resolveHosts(hosts: readonly string[], options: RouteOptions): Promise<readonly MailHost[]> {
    const { allowance, preferredAllowance, before } = options;
    const first = hosts.slice(0, HOSTS_TOGETHER);
    let resolved = await resolveTogether(first, preferredAllowance);
    returnQueries(options);
    if (resolved.some(isNotAsked)) {
      await before;
      resolved = await resolveTogether(first, allowance);
    }
    while (resolved.length < hosts.length && resolved.every(isUnusable)) {
      await before;
      const next = hosts.slice(resolved.length, resolved.length + HOSTS_TOGETHER);
      resolved.push(...(await resolveTogether(next, allowance)));
    }
    return resolved;
  }

  /** The hosts, if all of them are cached. */
  function knownHosts(hosts: readonly string[]): MailHost[] | null {
    const known: MailHost[] = [];
    for (const host of hosts) {
      const one = mailHosts.knownHost(host);
      if (one === undefined) return null;
      known.push(one);
    }
    return known;
  }

  /** Resolves exchangers concurrently within the allowance, and repeats for the others while some of it is returned. */
  async function resolveTogether(hosts: readonly string[], allowance: QueryAllowance): Promise<MailHost[]> {
    for (;;) {
      const { left } = allowance;
      const resolved = await Promise.all(hosts.map((host) => mailHosts.reachOf(host, allowance)));
      if (!resolved.some(isNotAsked) || allowance.left === left) return resolved;
    }
  }

  return { routeOf };
}

/** Adds what is left of the preferred exchangers' queries to the allowance. */
function returnQueries({ allowance, preferredAllowance, onReturned }: RouteOptions): void {
  allowance.left += preferredAllowance.left;
  preferredAllowance.left = 0;
  onReturned?.();
}

/** The routing of a domain whose exchangers are resolved. */
function byHosts(
  mx: CachedLookup<"MX">,
  hosts: readonly string[],
  resolved: readonly MailHost[],
  nullMixed: boolean,
): RoutingFinding {
  if (hosts.length === 0) return { mail: { state: "null_mx" }, expiresAt: mx.expiresAt };
  let { expiresAt } = mx;
  for (const host of resolved) expiresAt = Math.min(expiresAt, host.expiresAt);
  return { mail: { state: "mx", hosts, ...summarize(resolved), nullMixed }, expiresAt };
}

/**
 * Returns whether the DNS denies the domain. Where it denies a large mail provider it is itself at fault: a filter, a
 * captive portal, a resolver without its upstream. No denial of such a domain is believed.
 */
function isDenied({ state }: MailRouting): boolean {
  return state === "no_domain" || state === "no_mail_server";
}

/** The routing of a domain without MX, by the reach of its own name. */
const IMPLICIT: { readonly [Reach in MailHost["reach"]]: MailRouting } = {
  public: { state: "implicit_mx" },
  private: { state: "no_mail_server" },
  literal: { state: "no_mail_server" },
  dead: { state: "no_mail_server" },
  timeout: { state: "timeout" },
  error: { state: "error" },
  not_asked: { state: "error" },
};
