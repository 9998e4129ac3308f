import type { AddressLookup } from "../net/address-lookup.ts";
import type { DnsEvidence } from "./evidence.ts";

/** Returns the look-up of a scan, by the look-up that its requests are sent with. */
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
