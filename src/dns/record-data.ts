import type { MailExchange, RecordData, RecordType } from "./lookup.ts";
import { uint16, uint32, type WireRecord } from "./message-bytes.ts";
import { readName, skipName } from "./name.ts";

type RecordReader<Data> = (message: Uint8Array, at: number, end: number) => Data | null;

/** Parsers of the data of a record; null where its length is wrong. */
export const RECORD_READERS: { readonly [T in RecordType]: RecordReader<RecordData[T]> } = {
  A: readIpv4,
  AAAA: readIpv6,
  MX: readMailExchange,
  TXT: readText,
};

const PREFERENCE_OCTETS = 2;
/** Serial, refresh, retry, expire, minimum. */
const SOA_NUMBERS_OCTETS = 20;
const IPV4_OCTETS = 4;
const IPV6_GROUPS = 8;

/** Reads the target of an alias. */
export function readTarget(message: Uint8Array, at: number, end: number): string | null {
  return skipName(message, at) === end ? readName(message, at) : null;
}

/** Reads the MINIMUM of an SOA: the TTL of a denial (RFC 2308, 4). */
export function readSoaMinimum(message: Uint8Array, { dataAt, dataEnd }: WireRecord): number | null {
  const contactAt = skipName(message, dataAt);
  const numbersAt = contactAt < 0 ? -1 : skipName(message, contactAt);
  return numbersAt + SOA_NUMBERS_OCTETS === dataEnd ? uint32(message, dataEnd - 4) : null;
}

function readMailExchange(message: Uint8Array, at: number, end: number): MailExchange | null {
  const exchange = readTarget(message, at + PREFERENCE_OCTETS, end);
  return exchange === null ? null : { preference: uint16(message, at), exchange };
}

function readIpv4(message: Uint8Array, at: number, end: number): string | null {
  return end - at === IPV4_OCTETS ? message.subarray(at, end).join(".") : null;
}

/** Reads an IPv6 address as hexadecimal groups, the longest run of zeros compressed (RFC 5952, 4). */
function readIpv6(message: Uint8Array, at: number, end: number): string | null {
  if (end - at !== IPV6_GROUPS * 2) return null;
  const groups = Array.from({ length: IPV6_GROUPS }, (_, nth) => uint16(message, at + 2 * nth));
  const zeros = longestZeros(groups);
  const text = (from: number, to?: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  return zeros.length < 2 ? text(0) : `${text(0, zeros.at)}::${text(zeros.at + zeros.length)}`;
}

function longestZeros(groups: readonly number[]): { readonly at: number; readonly length: number } {
  let longest = { at: 0, length: 0 };
  let length = 0;
  for (const [nth, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { at: nth + 1 - length, length };
  }
  return longest;
}

/** Joins the length-prefixed strings of a record, in one buffer, as 64 KB may come in 256 of them. */
function readText(message: Uint8Array, start: number, end: number): string | null {
  const octets = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (start + 1 + (message[start] ?? 0) === end) return octets.toString("latin1", start + 1, end);
  const joined = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; ) {
    const stringEnd = at + 1 + (message[at] ?? 0);
    if (stringEnd > end) return null;
    length += octets.copy(joined, length, at + 1, stringEnd);
    at = stringEnd;
  }
  return joined.toString("latin1", 0, length);
}
