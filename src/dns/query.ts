import type { RecordType } from "./lookup.ts";
import { CLASS_IN, HEADER_OCTETS, isFailure, TYPE_CODES, uint16 } from "./message-bytes.ts";
import { isEncodable, nameOctets, writeName } from "./name.ts";

/** A question in wire format. The first two octets are for the id: see `writeId`. */
export type Query = { readonly packet: Uint8Array; readonly questionEnd: number };

const TYPE_AND_CLASS_OCTETS = 4;
const RECURSION_DESIRED = 0x01;
/** An EDNS record for replies of up to 1232 octets, which no path should break into fragments (DNS flag day 2020). */
const OPT = [0, 0, 41, 1232 >> 8, 1232 & 0xff, 0, 0, 0, 0, 0, 0] as const;

/** Encodes a question; null for a name that a DNS message cannot contain. */
export function encodeQuery(name: string, type: RecordType, edns: boolean): Query | null {
  if (!isEncodable(name)) return null;
  const questionEnd = HEADER_OCTETS + nameOctets(name) + TYPE_AND_CLASS_OCTETS;
  const packet = new Uint8Array(questionEnd + (edns ? OPT.length : 0));
  packet[2] = RECURSION_DESIRED;
  packet[5] = 1;
  const nameEnd = writeName(packet, HEADER_OCTETS, name);
  packet[nameEnd + 1] = TYPE_CODES[type];
  packet[nameEnd + 3] = CLASS_IN;
  if (edns) {
    packet[11] = 1;
    packet.set(OPT, questionEnd);
  }
  return { packet, questionEnd };
}

export function writeId(packet: Uint8Array, id: number): void {
  packet[0] = id >> 8;
  packet[1] = id & 0xff;
}

/**
 * Returns whether a message is a response to this question: name (in any case), type and class. The caller matches id
 * and source. A failure response may omit the question, as FORMERR often does.
 */
export function isReplyTo(message: Uint8Array, query: Query): boolean {
  if (message.length < HEADER_OCTETS) return false;
  const flags = uint16(message, 2);
  const isStandardResponse = (flags & 0xf800) === 0x8000;
  if (!isStandardResponse) return false;
  const questions = uint16(message, 4);
  if (questions === 0) return isFailure(flags & 0x0f);
  if (questions !== 1 || message.length < query.questionEnd) return false;
  for (let at = HEADER_OCTETS; at < query.questionEnd; at++) {
    if (message[at] !== query.packet[at] && foldCase(message[at]) !== foldCase(query.packet[at]))
      return false;
  }
  return true;
}

/** Returns an octet in lower case. Length octets of labels are below 64, so they never change. */
function foldCase(octet = 0): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}
