import { BlockList, isIP } from "node:net";

/** Special-purpose blocks: https://www.iana.org/assignments/iana-ipv4-special-registry and its IPv6 sister. */
const PRIVATE_IPV4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];
const PRIVATE_IPV6: readonly [string, number][] = [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
];

/**
 * Says whether an IP address lies outside the public internet: loopback, private, link-local, shared, reserved,
 * multicast, or IPv6 that carries an IPv4 address. Anything that is no address counts as private.
 */
export function createPrivateRange(): (address: string) => boolean {
  const ipv4 = new BlockList();
  for (const [network, prefix] of PRIVATE_IPV4) ipv4.addSubnet(network, prefix, "ipv4");
  const ipv6 = new BlockList();
  for (const [network, prefix] of PRIVATE_IPV6) ipv6.addSubnet(network, prefix, "ipv6");
  return (address) => {
    const family = isIP(address);
    if (family === 4) return ipv4.check(address, "ipv4");
    if (family !== 6) return true;
    const mapped = mappedIpv4(address);
    return mapped === null ? ipv6.check(address, "ipv6") : ipv4.check(mapped, "ipv4");
  };
}

/** The IPv4 address inside ::ffff:0:0/96, however it is written. */
function mappedIpv4(address: string): string | null {
  const host = URL.parse(`http://[${address.split("%")[0]}]/`)?.hostname ?? "";
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return null;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((word) => [word >> 8, word & 255]).join(".");
}
