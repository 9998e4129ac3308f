import { emptyLookup, type Lookup, type RecordData, type RecordType } from "./lookup.ts";
import {
  isFailure,
  RCODE_NXDOMAIN,
  readSections,
  type Sections,
  TYPE_CNAME,
  TYPE_CODES,
  TYPE_NS,
  TYPE_SOA,
  uint16,
  type WireRecord,
} from "./message-bytes.ts";
import { normalName } from "./name.ts";
import { RECORD_READERS, readSoaMinimum, readTarget } from "./record-data.ts";

/** The meaning of a reply. */
export type Reading<T extends RecordType> =
  | { readonly kind: "done"; readonly lookup: Lookup<T> }
  /** The records belong to another name, which this reply does not contain. */
  | { readonly kind: "alias"; readonly target: string; readonly hops: number; readonly ttlSeconds: number }
  /** The server would not or could not answer; `rcode` in lower case. */
  | { readonly kind: "failed"; readonly rcode: string }
  | { readonly kind: "truncated" }
  | { readonly kind: "malformed" };

/** The CNAME records that are followed from one name. */
export const ALIASES_MAX = 8;

/** More than real names have: with more long names, each look-up would leave 200 KB of garbage. */
const EXCHANGES_MAX = 128;

const RCODES: readonly string[] = ["noerror", "formerr", "servfail", "nxdomain", "notimp", "refused"];
const FLAG_AUTHORITATIVE = 0x0400;
const FLAG_TRUNCATED = 0x0200;
const MALFORMED = { kind: "malformed" } as const;

/** Parses a reply to the question for `name` and `type`. Never throws, whatever the octets. */
export function readReply<T extends RecordType>(message: Uint8Array, name: string, type: T): Reading<T> {
  const flags = uint16(message, 2);
  if ((flags & FLAG_TRUNCATED) !== 0) return { kind: "truncated" };
  const sections = readSections(message);
  const rcode = sections?.rcode ?? flags & 0x0f;
  if (isFailure(rcode)) return { kind: "failed", rcode: RCODES[rcode] ?? `rcode_${rcode}` };
  if (sections === null) return MALFORMED;
  const authoritative = (flags & FLAG_AUTHORITATIVE) !== 0;
  return readRecords(message, sections, normalName(name), type, authoritative);
}

/** Walks the CNAME chain from the name in the question to its records. */
function readRecords<T extends RecordType>(
  message: Uint8Array,
  sections: Sections,
  asked: string,
  type: T,
  authoritative: boolean,
): Reading<T> {
  const typeCode = TYPE_CODES[type];
  let name = asked;
  let ttlSeconds = Number.POSITIVE_INFINITY;
  let seen: Set<string> | null = null;
  for (let hops = 0; hops <= ALIASES_MAX; hops++) {
    const found = recordsOf(sections, name, typeCode);
    if (found.length > 0) return answer(message, found, type, ttlSeconds, hops > 0);
    const alias = recordsOf(sections, name, TYPE_CNAME)[0];
    if (alias === undefined) return chainEnd(message, sections, name, hops, ttlSeconds, authoritative);
    const target = readTarget(message, alias.dataAt, alias.dataEnd);
    if (target === null) return MALFORMED;
    seen ??= new Set([name]);
    if (seen.has(target)) return { kind: "done", lookup: emptyLookup<T>("error", 0, "cname_loop") };
    seen.add(target);
    ttlSeconds = Math.min(ttlSeconds, alias.ttlSeconds);
    name = target;
  }
  return { kind: "done", lookup: emptyLookup<T>("error", 0, "cname_chain_too_long") };
}

function recordsOf({ answers }: Sections, owner: string, type: number): readonly WireRecord[] {
  const found: WireRecord[] = [];
  for (const record of answers) if (record.type === type && record.owner === owner) found.push(record);
  return found;
}

/** Interprets a chain that ends without records: the name is missing, has none of this type, or must be queried. */
function chainEnd<T extends RecordType>(
  message: Uint8Array,
  { rcode, answers, authorities }: Sections,
  target: string,
  hops: number,
  ttlSeconds: number,
  authoritative: boolean,
): Reading<T> {
  const nameMissing = rcode === RCODE_NXDOMAIN;
  const soa = authorities.find((record) => record.type === TYPE_SOA);
  if (soa === undefined && !nameMissing) {
    // A referral: neither an answer nor a denial (RFC 2308, 2.2).
    const isReferral = !authoritative && authorities.some((record) => record.type === TYPE_NS);
    if (isReferral) return { kind: "failed", rcode: "referral" };
    if (hops > 0) return { kind: "alias", target, hops, ttlSeconds };
    // Of other names alone: it answers another question, and denies nothing.
    if (answers.length > 0 && answers.every(({ owner }) => owner !== target)) return MALFORMED;
  }
  const minimum = soa === undefined ? 0 : readSoaMinimum(message, soa);
  if (minimum === null) return MALFORMED;
  const negative = Math.min(soa?.ttlSeconds ?? 0, minimum, ttlSeconds);
  const lookup = emptyLookup<T>(nameMissing ? "nxdomain" : "nodata", negative);
  return { kind: "done", lookup: hops > 0 ? { ...lookup, alias: true } : lookup };
}

function answer<T extends RecordType>(
  message: Uint8Array,
  found: readonly WireRecord[],
  type: T,
  chainTtlSeconds: number,
  alias: boolean,
): Reading<T> {
  let ttlSeconds = chainTtlSeconds;
  const records: RecordData[T][] = [];
  for (const wire of type === "MX" ? found.slice(0, EXCHANGES_MAX) : found) {
    const record = RECORD_READERS[type](message, wire.dataAt, wire.dataEnd);
    if (record === null) return MALFORMED;
    ttlSeconds = Math.min(ttlSeconds, wire.ttlSeconds);
    records.push(record);
  }
  return { kind: "done", lookup: { outcome: "answer", records, ttlSeconds, alias, detail: null } };
}
