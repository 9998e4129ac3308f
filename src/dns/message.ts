import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
} from "dns-packet";
import { emptyLookup, type Lookup, type RecordData, type RecordType } from "./lookup.ts";

/** A question in wire form. The first two octets are left for the id. */
export type Query = { readonly packet: Buffer; readonly questionEnd: number };

/** What a reply amounts to. */
export type Reading<T extends RecordType> =
  | { readonly kind: "done"; readonly lookup: Lookup<T> }
  /** The records stand under another name, which this reply does not hold. */
  | { readonly kind: "alias"; readonly target: string; readonly hops: number; readonly ttlSeconds: number }
  /** The server would not or could not answer; `rcode` in lower case. */
  | { readonly kind: "failed"; readonly rcode: string }
  | { readonly kind: "truncated" }
  | { readonly kind: "malformed" };

const HEADER_OCTETS = 12;
const NAME_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;
/** The largest UDP reply that no path should break into fragments (DNS flag day 2020). */
const UDP_PAYLOAD_OCTETS = 1232;
/** How many CNAME records are followed from one name. */
export const ALIASES_MAX = 8;
/** A TTL with the topmost bit set counts as zero (RFC 2181, 8). */
const TTL_SECONDS_MAX = 2 ** 31 - 1;

const RCODES: readonly string[] = ["noerror", "formerr", "servfail", "nxdomain", "notimp", "refused"];
const RCODE_NXDOMAIN = 3;

/** Writes the question, or returns null where the name cannot stand in a DNS message. */
export function encodeQuery(name: string, type: RecordType, edns: boolean): Query | null {
  if (!isEncodable(name)) return null;
  const query: Packet = {
    type: "query",
    id: 0,
    flags: RECURSION_DESIRED,
    questions: [{ type, name, class: "IN" }],
  };
  if (edns) query.additionals = [OPT];
  const packet = encode(query);
  return { packet, questionEnd: packet.length - (edns ? OPT_OCTETS : 0) };
}

const OPT_OCTETS = 11;
const OPT: Answer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: UDP_PAYLOAD_OCTETS,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** Whether a name has labels of 1 to 63 printable ASCII characters and 253 characters at most. */
export function isEncodable(name: string): boolean {
  const end = name.endsWith(".") ? name.length - 1 : name.length;
  if (end < 1 || end > NAME_OCTETS_MAX) return false;
  let labelStart = 0;
  for (let at = 0; at <= end; at++) {
    const code = at === end ? 0x2e : name.charCodeAt(at);
    if (code === 0x2e) {
      if (at === labelStart || at - labelStart > LABEL_OCTETS_MAX) return false;
      labelStart = at + 1;
    } else if (code <= 0x20 || code >= 0x7f) return false;
  }
  return true;
}

/**
 * Whether a message is a response to this very question: name (in any case), type and class. The caller has
 * matched id and source. A response that reports a failure may leave the question out, as FORMERR often does.
 */
export function isReplyTo(message: Buffer, query: Query): boolean {
  if (message.length < HEADER_OCTETS) return false;
  const flags = message.readUInt16BE(2);
  const isStandardResponse = (flags & 0xf800) === 0x8000;
  if (!isStandardResponse) return false;
  const questions = message.readUInt16BE(4);
  if (questions === 0) return isFailure(flags & 0x0f);
  if (questions !== 1 || message.length < query.questionEnd) return false;
  for (let at = HEADER_OCTETS; at < query.questionEnd; at++) {
    if (foldCase(message[at]) !== foldCase(query.packet[at])) return false;
  }
  return true;
}

/** The length octets of labels are under 64 and so never touched. */
function foldCase(octet = 0): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}

function isFailure(rcode: number): boolean {
  return rcode !== 0 && rcode !== RCODE_NXDOMAIN;
}

/** Reads a reply to the question for `name` and `type`. Never throws, whatever the octets. */
export function readReply<T extends RecordType>(message: Buffer, name: string, type: T): Reading<T> {
  const flags = message.readUInt16BE(2);
  if ((flags & 0x0200) !== 0) return { kind: "truncated" };
  const rcode = flags & 0x0f;
  try {
    const packet = decode(message);
    const fullRcode = rcode | (extendedRcode(packet) << 4);
    if (isFailure(fullRcode)) return failed(fullRcode);
    return readRecords(packet, name, type, fullRcode === RCODE_NXDOMAIN);
  } catch {
    return isFailure(rcode) ? failed(rcode) : { kind: "malformed" };
  }
}

function failed(rcode: number): { kind: "failed"; rcode: string } {
  return { kind: "failed", rcode: RCODES[rcode] ?? `rcode_${rcode}` };
}

function extendedRcode(packet: Packet): number {
  const opt = packet.additionals?.find((record) => record.type === "OPT");
  return opt?.type === "OPT" ? opt.extendedRcode : 0;
}

/** Walks the CNAME chain from the name asked for to its records. */
function readRecords<T extends RecordType>(
  packet: Packet,
  asked: string,
  type: T,
  nameMissing: boolean,
): Reading<T> {
  const answers = (packet.answers ?? []).filter((record) => "class" in record && record.class === "IN");
  let name = normalName(asked);
  let ttlSeconds = TTL_SECONDS_MAX;
  const seen = new Set([name]);
  for (let hops = 0; hops <= ALIASES_MAX; hops++) {
    const found = answers.filter((record) => record.type === type && normalName(record.name) === name);
    if (found.length > 0) return answer(found, type, ttlSeconds, hops > 0);
    const alias = answers.find((record) => record.type === "CNAME" && normalName(record.name) === name);
    if (alias?.type !== "CNAME") return chainEnd<T>(packet, name, hops, ttlSeconds, nameMissing);
    ttlSeconds = Math.min(ttlSeconds, readTtl(alias.ttl));
    name = normalName(alias.data);
    if (seen.has(name)) return { kind: "done", lookup: emptyLookup<T>("error", 0, "cname_loop") };
    seen.add(name);
  }
  return { kind: "done", lookup: emptyLookup<T>("error", 0, "cname_chain_too_long") };
}

/** No records where the chain ends: the name is missing, or has none of this type, or was left to be asked for. */
function chainEnd<T extends RecordType>(
  packet: Packet,
  target: string,
  hops: number,
  ttlSeconds: number,
  nameMissing: boolean,
): Reading<T> {
  const soa = packet.authorities?.find((record) => record.type === "SOA");
  if (soa === undefined && !nameMissing && isReferral(packet)) return { kind: "failed", rcode: "referral" };
  if (soa?.type !== "SOA" && hops > 0 && !nameMissing) return { kind: "alias", target, hops, ttlSeconds };
  const negative =
    soa?.type === "SOA" ? Math.min(readTtl(soa.ttl), readTtl(soa.data.minimum), ttlSeconds) : 0;
  const lookup = emptyLookup<T>(nameMissing ? "nxdomain" : "nodata", negative);
  return { kind: "done", lookup: hops > 0 ? { ...lookup, alias: true } : lookup };
}

/** Some other server would know: no answer, and no word that there is none (RFC 2308, 2.2). */
function isReferral(packet: Packet): boolean {
  const authoritative = ((packet.flags ?? 0) & AUTHORITATIVE_ANSWER) !== 0;
  return !authoritative && (packet.authorities?.some((record) => record.type === "NS") ?? false);
}

function answer<T extends RecordType>(
  found: readonly Answer[],
  type: T,
  chainTtlSeconds: number,
  alias: boolean,
): Reading<T> {
  let ttlSeconds = chainTtlSeconds;
  const records: RecordData[T][] = [];
  for (const record of found) {
    if (record.type === "OPT") continue;
    if ("ttl" in record) ttlSeconds = Math.min(ttlSeconds, readTtl(record.ttl));
    records.push(READERS[type](record));
  }
  return { kind: "done", lookup: { outcome: "answer", records, ttlSeconds, alias, detail: null } };
}

const READERS: { readonly [T in RecordType]: (record: Answer) => RecordData[T] } = {
  A: (record) => (record.type === "A" ? record.data : ""),
  AAAA: (record) => (record.type === "AAAA" ? record.data : ""),
  MX: (record) =>
    record.type === "MX"
      ? { preference: record.data.preference ?? 0, exchange: normalName(record.data.exchange) }
      : { preference: 0, exchange: "." },
  TXT: (record) => (record.type === "TXT" ? joinStrings(record.data) : ""),
};

function joinStrings(data: string | Buffer | readonly (string | Buffer)[]): string {
  const strings = Array.isArray(data) ? data : [data];
  return strings.map((part) => (typeof part === "string" ? part : part.toString("latin1"))).join("");
}

function readTtl(ttl: number | undefined): number {
  return ttl === undefined || ttl > TTL_SECONDS_MAX ? 0 : ttl;
}

/** In lower case without the last dot; the root is ".". */
export function normalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith(".") ? lower.slice(0, -1) : lower;
}
