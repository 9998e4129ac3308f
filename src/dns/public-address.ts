/**
 * Distinguishes addresses that mail can be sent to from those that lead nowhere on the public internet.
 *
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry), column "Globally Reachable"; multicast and the
 * deprecated site-local block, which take no mail either, are added.
 */

/** Blocks without global reach, by the first address and the length of the prefix. */
const IPV4_BLOCKS: readonly (readonly [string, number])[] = [
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
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Reachable addresses inside those blocks. */
const IPV4_REACHABLE: readonly string[] = ["192.0.0.9", "192.0.0.10"];

/** Blocks of the global unicast space (2000::/3) without global reach. */
const IPV6_BLOCKS: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
];
const IPV6_REACHABLE: readonly (readonly [string, number])[] = [
  ["2001:1::1", 128],
  ["2001:1::2", 128],
  ["2001:1::3", 128],
  ["2001:3::", 32],
  ["2001:4:112::", 48],
  ["2001:20::", 28],
  ["2001:30::", 28],
];
/** Blocks whose addresses embed an IPv4 address, which is checked, with the index of its first 16 bits. */
const IPV4_EMBEDDINGS: readonly (readonly [string, number, number])[] = [
  ["::ffff:0:0", 96, 6],
  ["64:ff9b::", 96, 6],
  ["2002::", 16, 1],
];
/** Those of them that no request is sent to: IPv4-mapped addresses and 6to4. */
const REFUSED_EMBEDDINGS: readonly (readonly [string, number])[] = [
  ["::ffff:0:0", 96],
  ["2002::", 16],
];
const GLOBAL_UNICAST = ["2000::", 3] as const;

/** Returns whether a text is an address of the public internet; false for a text that is no address. */
export function isPublicAddress(address: string): boolean {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return isPublicIpv4(ipv4);
  const ipv6 = parseIpv6(address);
  return ipv6 !== null && isPublicIpv6(ipv6);
}

/**
 * Returns whether requests may be sent to an address: a public one that does not embed an IPv4 address. NAT64 is the
 * exception: behind it every IPv4 address is embedded, and the embedded one is checked.
 */
export function isOutgoingAddress(address: string): boolean {
  const ipv6 = parseIpv6(address);
  return (
    isPublicAddress(address) && (ipv6 === null || !REFUSED_PREFIXES.some((prefix) => isInside(ipv6, prefix)))
  );
}

/** Returns whether a text is an IPv4 or IPv6 address. */
export function isAddress(text: string): boolean {
  return parseIpv4(text) !== null || parseIpv6(text) !== null;
}

function isPublicIpv4(address: number): boolean {
  for (const { base, size } of IPV4_RANGES) {
    if (address >= base && address < base + size) return IPV4_EXCEPTIONS.has(address);
  }
  return true;
}

function isPublicIpv6(groups: readonly number[]): boolean {
  for (const { prefix, at } of EMBEDDING_PREFIXES) {
    if (isInside(groups, prefix)) return isPublicIpv4((groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0));
  }
  if (!isInside(groups, IPV6_GLOBAL)) return false;
  if (IPV6_EXCEPTIONS.some((prefix) => isInside(groups, prefix))) return true;
  return !IPV6_RANGES.some((prefix) => isInside(groups, prefix));
}

type Prefix = { readonly groups: readonly number[]; readonly bits: number };

function isInside(groups: readonly number[], prefix: Prefix): boolean {
  let left = prefix.bits;
  for (let at = 0; left > 0; at++, left -= 16) {
    const mask = left >= 16 ? 0xffff : 0xffff & ~(0xffff >> left);
    if (((groups[at] ?? 0) & mask) !== ((prefix.groups[at] ?? 0) & mask)) return false;
  }
  return true;
}

/** Parses a dotted quad without leading zeros. */
export function parseIpv4(text: string): number | null {
  let value = 0;
  const parts = text.length <= 15 ? text.split(".") : [];
  if (parts.length !== 4) return null;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null;
    value = value * 256 + Number(part);
  }
  return value;
}

/** Parses the text forms of RFC 4291, 2.2 into eight groups. */
export function parseIpv6(text: string): readonly number[] | null {
  if (text.length > 45 || !text.includes(":")) return null;
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = readGroups(halves[0] ?? "");
  const tail = readGroups(halves[1] ?? "");
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1) return missing === 0 ? head : null;
  return missing >= 1 ? [...head, ...Array<number>(missing).fill(0), ...tail] : null;
}

function readGroups(text: string): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const ipv4 = index === parts.length - 1 ? parseIpv4(part) : null;
    if (ipv4 !== null) groups.push(Math.floor(ipv4 / 0x10000), ipv4 % 0x10000);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}

function prefixOf([text, bits]: readonly [string, number, ...unknown[]]): Prefix {
  return { groups: parseIpv6(text) ?? [], bits };
}

const IPV4_RANGES = IPV4_BLOCKS.map(([text, bits]) => ({
  base: parseIpv4(text) ?? 0,
  size: 2 ** (32 - bits),
}));
const IPV4_EXCEPTIONS: ReadonlySet<number> = new Set(IPV4_REACHABLE.map((text) => parseIpv4(text) ?? 0));
const IPV6_RANGES = IPV6_BLOCKS.map(prefixOf);
const IPV6_EXCEPTIONS = IPV6_REACHABLE.map(prefixOf);
const EMBEDDING_PREFIXES = IPV4_EMBEDDINGS.map((embedding) => ({
  prefix: prefixOf(embedding),
  at: embedding[2],
}));
const REFUSED_PREFIXES = REFUSED_EMBEDDINGS.map(prefixOf);
const IPV6_GLOBAL = prefixOf(GLOBAL_UNICAST);
