import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, type Question } from "dns-packet";
import { HEADER_OCTETS } from "../dns/message-bytes.ts";
import type { FaultKind, Zone } from "./zone.ts";

const UDP_PLAIN_OCTETS_MAX = 512;
const RESPONSE = 0x80;
export const TRUNCATED = 0x02;

/** A DNS query as it was received. */
export type ReceivedQuery = {
  readonly message: Buffer;
  readonly question: Question;
  readonly questionEnd: number;
  readonly payloadMax: number;
  readonly edns: boolean;
  readonly tcp: boolean;
};

export type Send = (message: Uint8Array) => void;

/** Returns a query that can be answered, or null. */
export function readQuestion(message: Buffer, tcp: boolean): ReceivedQuery | null {
  try {
    const packet = decode(message);
    const question = packet.questions?.[0];
    if (packet.type !== "query" || question === undefined) return null;
    const opt = packet.additionals?.find((record) => record.type === "OPT");
    const edns = opt?.type === "OPT";
    const payloadMax = edns ? Math.max(UDP_PLAIN_OCTETS_MAX, opt.udpPayloadSize) : UDP_PLAIN_OCTETS_MAX;
    return { message, question, questionEnd: questionEndOf(message), payloadMax, edns, tcp };
  } catch {
    return null;
  }
}

function questionEndOf(message: Buffer): number {
  let at = HEADER_OCTETS;
  for (let length = message[at]; length !== undefined && length > 0; length = message[at]) at += length + 1;
  return at + 5;
}

/** Returns the reply of a zone, cut short to its question where it does not fit. */
export function encodeReply(zone: Zone, query: ReceivedQuery, withoutSoa: boolean): Buffer {
  const { rcode, answers, authorities } = zone.resolve(query.question.name, query.question.type);
  const reply: Packet = {
    type: "response",
    id: 0,
    flags: AUTHORITATIVE_ANSWER | 0x0180 | (rcode === "NXDOMAIN" ? 3 : 0),
    questions: [query.question],
    answers: [...answers],
    authorities: withoutSoa ? [] : [...authorities],
    additionals: query.edns ? [OPT] : [],
  };
  const encoded = encode(reply);
  const fits = query.tcp || encoded.length <= query.payloadMax;
  return fits ? encoded : Buffer.from(bareReply(query, TRUNCATED, 0));
}

const OPT: Answer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** Header and question only. */
export function bareReply({ message, questionEnd }: ReceivedQuery, flags: number, rcode: number): Buffer {
  const reply = Buffer.from(message.subarray(0, questionEnd));
  reply[2] = RESPONSE | flags | 1;
  reply[3] = 0x80 | rcode;
  reply.fill(0, 6, HEADER_OCTETS);
  return reply;
}

/** Returns a referral to servers that nobody knows. */
export function referral({ message, question }: ReceivedQuery): Buffer {
  const { id = 0 } = decode(message);
  return encode({
    type: "response",
    id,
    questions: [question],
    authorities: [{ type: "NS", name: ".", ttl: 300, class: "IN", data: "ns.elsewhere" }],
  });
}

/** Sends, ahead of the truth, a reply that a careful client ignores; it denies that the name exists. */
export function sendLie(kind: FaultKind, query: ReceivedQuery, send: Send, sendFromElsewhere: Send): void {
  const lie = bareReply(query, 0, 3);
  if (kind === "wrong-source") sendFromElsewhere(lie);
  if (kind === "wrong-id") {
    lie[0] = (lie[0] ?? 0) ^ 0xff;
    send(lie);
  }
  if (kind === "wrong-question") {
    lie[HEADER_OCTETS + 1] = (lie[HEADER_OCTETS + 1] ?? 0) ^ 0x01;
    send(lie);
  }
  if (kind === "garbage") {
    send(Uint8Array.from({ length: 64 }, (_, at) => (at * 89 + 41) & 0xff));
    send(lie.subarray(0, 7));
    send(new Uint8Array(0));
  }
}
