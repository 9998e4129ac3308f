import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { MailExchange } from "../dns/lookup.ts";
import type { MailExchangers, MailRouting } from "../verification/email/domain-facts.ts";
import { isMajorProvider } from "../verification/email/providers.ts";
import type { MailHost, MailHosts } from "./mail-hosts.ts";

export type RoutingFinding = {
  readonly mail: MailRouting;
  /** The instant on `Clock.monotonic` up to which this holds. */
  readonly expiresAt: number;
};

export type MailRoutes = {
  /**
   * Finds where mail for a domain goes (RFC 5321, 5.1). Never rejects. `onHosts` is told of the exchangers before
   * they are resolved, as routing whose targets are unknown.
   */
  readonly routeOf: (domain: string, onHosts?: (mail: MailRouting) => void) => Promise<RoutingFinding>;
};

/** More exchangers than any sender tries: those after them are not reported. */
const HOSTS_MAX = 64;
/** Exchangers that are resolved together, the preferred first; the next only where none of them can be used. */
const HOSTS_TOGETHER = 16;

/** Only a firm answer is read as one: a failed look-up never makes a domain missing nor its MX implicit. */
export function createMailRouting(parts: {
  readonly cache: DnsCache;
  readonly mailHosts: MailHosts;
}): MailRoutes {
  const { cache, mailHosts } = parts;

  async function routeOf(domain: string, onHosts?: (mail: MailRouting) => void): Promise<RoutingFinding> {
    const { mail, expiresAt } = await routeAsTold(domain, onHosts);
    return { mail: isDenied(mail) && isMajorProvider(domain) ? { state: "error" } : mail, expiresAt };
  }

  async function routeAsTold(domain: string, onHosts?: (mail: MailRouting) => void): Promise<RoutingFinding> {
    const mx = await cache.lookUp(domain, "MX");
    switch (mx.outcome) {
      case "timeout":
      case "error":
        return { mail: { state: mx.outcome }, expiresAt: mx.expiresAt };
      case "nxdomain":
        return { mail: { state: "no_domain" }, expiresAt: mx.expiresAt };
      case "nodata":
        return routeByAddress(domain, mx.expiresAt);
      case "answer":
        return routeByExchangers(mx, onHosts);
    }
  }

  async function routeByAddress(domain: string, mxExpiresAt: number): Promise<RoutingFinding> {
    const host = await mailHosts.reachOf(domain);
    return { mail: IMPLICIT[host.reach], expiresAt: Math.min(mxExpiresAt, host.expiresAt) };
  }

  async function routeByExchangers(
    mx: CachedLookup<"MX">,
    onHosts?: (mail: MailRouting) => void,
  ): Promise<RoutingFinding> {
    const hosts = hostsByPreference(mx.records);
    if (hosts.length === 0) return { mail: { state: "null_mx" }, expiresAt: mx.expiresAt };
    const nullMixed = mx.records.some(({ exchange }) => exchange === ".");
    onHosts?.({ state: "mx", hosts, targets: "unknown", cname: false, partlyDead: false, nullMixed });
    const resolved = await resolveHosts(hosts);
    return {
      mail: { state: "mx", hosts, ...summarize(resolved), nullMixed },
      expiresAt: Math.min(mx.expiresAt, ...resolved.map(({ expiresAt }) => expiresAt)),
    };
  }

  async function resolveHosts(hosts: readonly string[]): Promise<readonly MailHost[]> {
    const resolved: MailHost[] = [];
    while (resolved.length < hosts.length && resolved.every(isUseless)) {
      const next = hosts.slice(resolved.length, resolved.length + HOSTS_TOGETHER);
      resolved.push(...(await Promise.all(next.map(mailHosts.reachOf))));
    }
    return resolved;
  }

  return { routeOf };
}

/**
 * A DNS that denies one of the world's large mail providers is itself at fault: a filter, a captive portal, a
 * resolver that has lost its upstream. Nothing of what it denies is known then.
 */
function isDenied({ state }: MailRouting): boolean {
  return state === "no_domain" || state === "no_mail_server";
}

/** What follows for a domain without MX from what its own name resolves to. */
const IMPLICIT: { readonly [Reach in MailHost["reach"]]: MailRouting } = {
  public: { state: "implicit_mx" },
  private: { state: "no_mail_server" },
  literal: { state: "no_mail_server" },
  dead: { state: "no_mail_server" },
  timeout: { state: "timeout" },
  error: { state: "error" },
};

/** Each host once, the lowest preference first; servers rotate equal ones, so those go by name. */
function hostsByPreference(records: readonly MailExchange[]): string[] {
  const sorted = [...records].sort(
    (a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0),
  );
  const hosts = new Set(sorted.map(({ exchange }) => exchange));
  hosts.delete(".");
  return [...hosts].slice(0, HOSTS_MAX);
}

function isUseless({ reach }: MailHost): boolean {
  return reach === "dead" || reach === "private" || reach === "literal";
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
  if (reaches.has("timeout") || reaches.has("error")) return "unknown";
  if (reaches.has("literal")) return "literal";
  return reaches.has("private") ? "private" : "dead";
}
