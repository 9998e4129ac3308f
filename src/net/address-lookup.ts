import { lookup } from "node:dns/promises";
import type { Lookup, Resolver } from "../dns/lookup.ts";

/** The addresses of a host, or why they are missing. */
export type Resolution =
  | {
      readonly ok: true;
      readonly addresses: readonly string[];
      /** Why the look-up of one address family failed; absent where both were answered. */
      readonly failure?: "dns_failed" | "dns_timeout";
    }
  | { readonly ok: false; readonly reason: "dns_not_found" | "dns_failed" | "dns_timeout" };

/** Resolves all addresses of a host, in the order in which to try them. Never rejects. */
export type AddressLookup = (host: string) => Promise<Resolution>;

const LOOPBACK = ["127.0.0.1", "::1"];

/** Creates a look-up by our own resolver or cache: A and AAAA in parallel, the families alternating. */
export function createAddressLookup(resolver: Resolver): AddressLookup {
  return async (host) => {
    // RFC 6761, 6.3: the name is this machine, and is not looked up.
    if (host === "localhost" || host.endsWith(".localhost")) return { ok: true, addresses: LOOPBACK };
    const lookups = await Promise.all([resolver.lookUp(host, "A"), resolver.lookUp(host, "AAAA")]);
    const [ipv4, ipv6] = lookups;
    const addresses = byTurns(ipv4.records, ipv6.records);
    const reason = reasonOf(lookups);
    if (addresses.length === 0) return { ok: false, reason };
    return reason === "dns_not_found" ? { ok: true, addresses } : { ok: true, addresses, failure: reason };
  };
}

/** The look-up of the operating system, which also knows local names: for hosts that an operator sets. */
export const systemAddressLookup: AddressLookup = async (host) => {
  try {
    const entries = await lookup(host, { all: true });
    return { ok: true, addresses: entries.map(({ address }) => address) };
  } catch (error) {
    const isMissing = (error as { readonly code?: string }).code === "ENOTFOUND";
    return { ok: false, reason: isMissing ? "dns_not_found" : "dns_failed" };
  }
};

function reasonOf(lookups: readonly Lookup<"A" | "AAAA">[]): "dns_not_found" | "dns_failed" | "dns_timeout" {
  if (lookups.some(({ outcome }) => outcome === "error")) return "dns_failed";
  return lookups.some(({ outcome }) => outcome === "timeout") ? "dns_timeout" : "dns_not_found";
}

function byTurns(first: readonly string[], second: readonly string[]): string[] {
  const mixed: string[] = [];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    for (const list of [first, second]) {
      const item = list[at];
      if (item !== undefined) mixed.push(item);
    }
  }
  return mixed;
}
