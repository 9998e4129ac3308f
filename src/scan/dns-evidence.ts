import type { AddressLookup } from "../net/address-lookup.ts";
import type { DnsEvidence } from "./evidence.ts";

/** Creates the DNS evidence of a scan from the look-up that its requests use. */
export function createDnsEvidence(lookUp: AddressLookup): (host: string) => Promise<DnsEvidence> {
  return async (host) => {
    const found = await lookUp(host);
    if (!found.ok) return { ipv4: [], ipv6: [], failure: found.reason };
    return {
      ipv4: found.addresses.filter((address) => !address.includes(":")),
      ipv6: found.addresses.filter((address) => address.includes(":")),
      failure: found.failure ?? null,
    };
  };
}
