import { HEADER_OCTETS } from "../dns/message-bytes.ts";
import {
  bareReply,
  encodeReply,
  type ReceivedQuery,
  readQuestion,
  referral,
  type Send,
  sendLie,
  TRUNCATED,
} from "./replies.ts";
import type { Fault, FaultKind, Zone } from "./zone.ts";

const COUNTED_NAMES_MAX = 200_000;
const REPLIES_KEPT_MAX = 200_000;
const RCODE_OF: Partial<Record<FaultKind, number>> = { formerr: 1, servfail: 2, notimp: 4, refused: 5 };

/** Takes one message; `hangUp` closes the connection it came by. */
export type Take = (
  message: Buffer,
  tcp: boolean,
  send: Send,
  sendFromElsewhere: Send,
  hangUp: () => void,
) => void;

/** Answers questions from a zone, and misbehaves where the zone says so. */
export function createResponder(first: Zone) {
  let zone = first;
  let faultOfAll: Fault | null = null;
  let closed = false;
  let total = 0;
  let byTcp = 0;
  const counts = new Map<string, number>();
  const replies = new Map<string, Buffer>();
  const dropped = new Map<string, number>();

  function take(
    message: Buffer,
    tcp: boolean,
    send: Send,
    sendFromElsewhere: Send,
    hangUp: () => void,
  ): void {
    const query = readQuestion(message, tcp);
    if (query === null || closed) return;
    count(query);
    const { name, type } = query.question;
    const own = zone.faults(name, type);
    const faults = faultOfAll === null ? own : [...own, faultOfAll];
    if (faults.length === 0) send(replyTo(query, false));
    else misbehave(query, faults, send, sendFromElsewhere, hangUp);
  }

  function misbehave(
    query: ReceivedQuery,
    faults: readonly Fault[],
    send: Send,
    sendFromElsewhere: Send,
    hangUp: () => void,
  ): void {
    const find = (kind: FaultKind) => faults.find((fault) => fault.kind === kind);
    if (find("tcp-close") && query.tcp) {
      hangUp();
      return;
    }
    for (const { kind } of faults) sendLie(kind, query, send, sendFromElsewhere);
    if (find("silent")) return;
    const drop = find("drop");
    if (drop !== undefined && stillDropped(query, drop.amount)) return;
    const reply = Buffer.from(faultyReply(query, faults));
    const delay = find("delay");
    if (delay === undefined) send(reply);
    else setTimeout(() => closed || send(reply), delay.amount);
  }

  function stillDropped({ question }: ReceivedQuery, amount: number): boolean {
    const key = `${question.type} ${question.name}`;
    const before = dropped.get(key) ?? 0;
    dropped.set(key, before + 1);
    return before < amount;
  }

  function faultyReply(query: ReceivedQuery, faults: readonly Fault[]): Uint8Array {
    for (const { kind } of faults) {
      const rcode = RCODE_OF[kind];
      if (rcode !== undefined) return bareReply(query, 0, rcode);
      if (kind === "formerr-edns" && query.edns) return bareReply(query, 0, 1);
      if (kind === "truncate" && !query.tcp) return bareReply(query, TRUNCATED, 0);
      if (kind === "referral") return referral(query);
    }
    return replyTo(
      query,
      faults.some(({ kind }) => kind === "no-soa"),
    );
  }

  /** A cached reply under the id and the spelling of the question asked. */
  function replyTo(query: ReceivedQuery, withoutSoa: boolean): Buffer {
    const { message, questionEnd, question } = query;
    const key = `${question.type} ${query.edns} ${query.tcp} ${withoutSoa} ${question.name.toLowerCase()}`;
    let reply = replies.get(key);
    if (reply === undefined) {
      reply = encodeReply(zone, query, withoutSoa);
      if (replies.size < REPLIES_KEPT_MAX) replies.set(key, reply);
    }
    message.copy(reply, 0, 0, 2);
    message.copy(reply, HEADER_OCTETS, HEADER_OCTETS, questionEnd);
    return reply;
  }

  function count({ question, tcp }: ReceivedQuery): void {
    total++;
    if (tcp) byTcp++;
    const name = question.name.toLowerCase();
    for (const key of [name, `${name} ${question.type}`]) {
      const before = counts.get(key);
      if (before !== undefined || counts.size < COUNTED_NAMES_MAX) counts.set(key, (before ?? 0) + 1);
    }
  }

  function reset(): void {
    replies.clear();
    dropped.clear();
  }

  return {
    take,
    setZone: (next: Zone) => {
      zone = next;
      reset();
    },
    setFault: (fault: Fault | null) => {
      faultOfAll = fault;
      dropped.clear();
    },
    queryCount: (name?: string, type?: string) => {
      if (name === undefined) return total;
      return counts.get(type === undefined ? name.toLowerCase() : `${name.toLowerCase()} ${type}`) ?? 0;
    },
    tcpQueryCount: () => byTcp,
    resetCounts: () => {
      total = 0;
      byTcp = 0;
      counts.clear();
    },
    close: () => {
      closed = true;
    },
  };
}
