import type { RecordType } from "./lookup.ts";
import { readName, skipName } from "./name.ts";

/** The wire format of a message (RFC 1035, 4.1): its integers, and the positions of its records. */

export const HEADER_OCTETS = 12;
export const CLASS_IN = 1;
export const TYPE_CODES: { readonly [T in RecordType]: number } = { A: 1, MX: 15, TXT: 16, AAAA: 28 };
export const TYPE_NS = 2;
export const TYPE_CNAME = 5;
export const TYPE_SOA = 6;
const TYPE_OPT = 41;
export const RCODE_NXDOMAIN = 3;
/** A TTL with the topmost bit set counts as zero (RFC 2181, 8). */
const TTL_SECONDS_MAX = 2 ** 31 - 1;

const POINTER_MIN = 0xc000;
const QUESTION_FIXED_OCTETS = 4;
const RECORD_FIXED_OCTETS = 10;
/**
 * Several times the records of any real name. A reply by TCP may contain 4,000 with a long name each, which take 10 ms to
 * read: records beyond this are skipped.
 */
const RECORDS_READ_MAX = 512;

/** A record of class IN; its data is not yet read. */
export type WireRecord = {
  readonly type: number;
  /** Normalised by `normalName`. */
  readonly owner: string;
  readonly ttlSeconds: number;
  readonly dataAt: number;
  readonly dataEnd: number;
};

/** The parsed sections of a message. */
export type Sections = {
  /** Includes the bits that EDNS adds. */
  readonly rcode: number;
  readonly answers: readonly WireRecord[];
  readonly authorities: readonly WireRecord[];
};

export function isFailure(rcode: number): boolean {
  return rcode !== 0 && rcode !== RCODE_NXDOMAIN;
}

/** Reads the big-endian integer of 16 bits at `at`; octets past the end count as zero. */
export function uint16(message: Uint8Array, at: number): number {
  return ((message[at] ?? 0) << 8) | (message[at + 1] ?? 0);
}

/** Reads the big-endian integer of 32 bits at `at`. */
export function uint32(message: Uint8Array, at: number): number {
  return uint16(message, at) * 0x1_0000 + uint16(message, at + 2);
}

function readTtl(message: Uint8Array, at: number): number {
  const seconds = uint32(message, at);
  return seconds > TTL_SECONDS_MAX ? 0 : seconds;
}

/** Parses the records; null where the message contradicts its header. */
export function readSections(message: Uint8Array): Sections | null {
  const answerCount = uint16(message, 6);
  const authoritiesEnd = answerCount + uint16(message, 8);
  const additionalsEnd = authoritiesEnd + uint16(message, 10);
  const answers: WireRecord[] = [];
  const authorities: WireRecord[] = [];
  let rcode = uint16(message, 2) & 0x0f;
  let ownerPointer = 0;
  let owner: string | null = null;
  let at = skipQuestions(message);
  for (let nth = 0; nth < additionalsEnd; nth++) {
    const fixedAt = at < 0 ? at : skipName(message, at);
    const dataAt = fixedAt + RECORD_FIXED_OCTETS;
    const dataEnd = dataAt + uint16(message, dataAt - 2);
    if (fixedAt < 0 || dataAt > message.length || dataEnd > message.length) return null;
    const type = uint16(message, fixedAt);
    if (nth >= authoritiesEnd) {
      if (type === TYPE_OPT) rcode |= (message[fixedAt + 4] ?? 0) << 4;
    } else if (uint16(message, fixedAt + 2) === CLASS_IN && nth < RECORDS_READ_MAX) {
      // The records of a set share the pointer to their owner.
      const pointer = uint16(message, at);
      if (pointer < POINTER_MIN || pointer !== ownerPointer) owner = readName(message, at);
      if (owner === null) return null;
      ownerPointer = pointer;
      const record = { type, owner, ttlSeconds: readTtl(message, fixedAt + 4), dataAt, dataEnd };
      (nth < answerCount ? answers : authorities).push(record);
    }
    at = dataEnd;
  }
  return at < 0 ? null : { rcode, answers, authorities };
}

function skipQuestions(message: Uint8Array): number {
  let at = HEADER_OCTETS;
  for (let left = uint16(message, 4); left > 0; left--) {
    const nameEnd = skipName(message, at);
    at = nameEnd + QUESTION_FIXED_OCTETS;
    if (nameEnd < 0 || at > message.length) return -1;
  }
  return at;
}
