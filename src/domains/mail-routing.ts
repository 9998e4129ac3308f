import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { MailExchange } from "../dns/lookup.ts";
import type { QueryAllowance } from "../dns/query-allowance.ts";
import type { MailExchangers, MailRouting } from "../verification/email/domain-facts.ts";
import { isMajorProvider } from "../verification/email/providers.ts";
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
  /** Called with the exchangers before they are resolved, as routing whose targets are unknown. */
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

/** The exchangers that are reported: more than any sender tries. */
const HOSTS_MAX = 64;
/** Characters of all reported names, which go to a thread and into each result: 64 of the longest take 16 KB. */
const HOSTS_CHARACTERS_MAX = 4_096;
/** Exchangers that are resolved at a time, the preferred first; further ones only where none of them is usable. */
const HOSTS_TOGETHER = 16;

/** Creates the routing. A failed look-up never makes a domain missing, nor its MX implicit. */
export function createMailRouting(dependencies: {
  readonly cache: DnsCache;
  readonly mailHosts: MailHosts;
}): MailRoutes {
  const { cache, mailHosts } = dependencies;

  async function routeOf(domain: string, options: RouteOptions): Promise<RoutingFinding> {
    const { allowance, preferredAllowance, onReturned } = options;
    const returnQueries = () => {
      allowance.left += preferredAllowance.left;
      preferredAllowance.left = 0;
      onReturned?.();
    };
    const mx = await cache.lookUp(domain, "MX", allowance);
    if (mx.outcome === "answer") return routeByExchangers(mx, options, returnQueries);
    const { mail, expiresAt } = await routeWithoutMx(domain, mx, allowance);
    returnQueries();
    return { mail: isDenied(mail) && isMajorProvider(domain) ? { state: "error" } : mail, expiresAt };
  }

  async function routeWithoutMx(
    domain: string,
    mx: CachedLookup<"MX">,
    allowance: QueryAllowance,
  ): Promise<RoutingFinding> {
    if (mx.outcome === "nxdomain") return { mail: { state: "no_domain" }, expiresAt: mx.expiresAt };
    if (mx.outcome !== "nodata") {
      return { mail: { state: mx.outcome === "timeout" ? "timeout" : "error" }, expiresAt: mx.expiresAt };
    }
    const host = await mailHosts.reachOf(domain, allowance);
    return { mail: IMPLICIT[host.reach], expiresAt: Math.min(mx.expiresAt, host.expiresAt) };
  }

  async function routeByExchangers(
    mx: CachedLookup<"MX">,
    options: RouteOptions,
    returnQueries: () => void,
  ): Promise<RoutingFinding> {
    const hosts = hostsByPreference(mx.records);
    const nullMixed = mx.records.some(({ exchange }) => exchange === ".");
    if (hosts.length > 0) {
      options.onHosts?.({
        state: "mx",
        hosts,
        targets: "unknown",
        cname: false,
        partlyDead: false,
        nullMixed,
      });
    }
    const resolved = await resolveHosts(hosts, options, returnQueries);
    if (hosts.length === 0) return { mail: { state: "null_mx" }, expiresAt: mx.expiresAt };
    return {
      mail: { state: "mx", hosts, ...summarize(resolved), nullMixed },
      expiresAt: Math.min(mx.expiresAt, ...resolved.map(({ expiresAt }) => expiresAt)),
    };
  }

  /** Resolves exchangers within the allowance, in order of preference. */
  async function resolveHosts(
    hosts: readonly string[],
    { allowance, preferredAllowance, before }: RouteOptions,
    returnQueries: () => void,
  ): Promise<readonly MailHost[]> {
    const first = hosts.slice(0, HOSTS_TOGETHER);
    let resolved = knownHosts(first) ?? (await resolveTogether(first, preferredAllowance));
    returnQueries();
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

  /** The hosts, if all of them are cached: so are those of most domains that nobody asked for before. */
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

/** Returns each host once, by preference. Equal ones are sorted by name, as servers rotate them. */
function hostsByPreference(records: readonly MailExchange[]): string[] {
  const sorted = [...records].sort(
    (a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0),
  );
  const hosts = new Set(sorted.map(({ exchange }) => exchange));
  hosts.delete(".");
  let characters = 0;
  return [...hosts].slice(0, HOSTS_MAX).filter((host) => {
    characters += host.length;
    return characters <= HOSTS_CHARACTERS_MAX;
  });
}

function isUseless({ reach }: MailHost): boolean {
  return reach === "dead" || reach === "private" || reach === "literal";
}

function isUnusable(host: MailHost): boolean {
  return isUseless(host) || isNotAsked(host);
}

function isNotAsked({ reach }: MailHost): boolean {
  return reach === "not_asked";
}

function summarize(hosts: readonly MailHost[]): Pick<MailExchangers, "targets" | "cname" | "partlyDead"> {
  const reaches = new Set(hosts.map(({ reach }) => reach));
  return {
    targets: bestTarget(reaches),
    cname: hosts.some(({ alias }) => alias),
    partlyDead: reaches.has("public") && hosts.some(isUseless),
  };
}

function bestTarget(reaches: ReadonlySet<MailHost["reach"]>): MailExchangers["targets"] {
  if (reaches.has("public")) return "public";
  if (reaches.has("timeout") || reaches.has("error") || reaches.has("not_asked")) return "unknown";
  if (reaches.has("literal")) return "literal";
  return reaches.has("private") ? "private" : "dead";
}
