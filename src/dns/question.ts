import { emptyLookup, type Lookup, type RecordType } from "./lookup.ts";
import type { Query } from "./query.ts";
import type { QueryAllowance } from "./query-allowance.ts";
import type { ServerAddress } from "./server-address.ts";
import type { Transaction, UdpChannel } from "./udp-channel.ts";

export type Server = { readonly address: ServerAddress; readonly channel: UdpChannel<Exchange> };

/** A look-up that is in flight or queued. */
export type Question = {
  name: string;
  readonly type: RecordType;
  readonly settle: (lookup: Lookup<RecordType>) => void;
  readonly allowance: QueryAllowance | null;
  /** The queries charged to the allowance. */
  queries: number;
  /** In the order in which they are tried. */
  servers: readonly Server[];
  /** In order of their starts, ended ones included. */
  readonly exchanges: Exchange[];
  attempts: number;
  refusals: number;
  detail: string | null;
  nextAttemptAt: number;
  deadline: number;
  hops: number;
  aliasTtlSeconds: number;
};

/** An attempt of a question at one server: by UDP, or by TCP with a connection to close. */
export interface Exchange extends Transaction<Exchange> {
  readonly question: Question;
  readonly server: Server;
  readonly edns: boolean;
  isOpen: boolean;
  hangUp: (() => void) | null;
}

export function newQuestion(
  name: string,
  type: RecordType,
  allowance: QueryAllowance | null,
  settle: Question["settle"],
): Question {
  return {
    name,
    type,
    allowance,
    queries: 1,
    settle,
    servers: [],
    exchanges: [],
    attempts: 0,
    refusals: 0,
    detail: null,
    nextAttemptAt: 0,
    deadline: 0,
    hops: 0,
    aliasTtlSeconds: Number.POSITIVE_INFINITY,
  };
}

export function newExchange(question: Question, server: Server, query: Query, edns: boolean): Exchange {
  const exchange = { question, server, query, edns, isOpen: true, hangUp: null, port: null, id: 0 };
  question.exchanges.push(exchange);
  return exchange;
}

/** Returns whether any server may still answer. */
export function isOpen(question: Question): boolean {
  return question.exchanges.some((exchange) => exchange.isOpen);
}

export function endExchanges(question: Question): void {
  for (const exchange of question.exchanges) {
    if (!exchange.isOpen) continue;
    exchange.isOpen = false;
    if (exchange.hangUp === null) exchange.server.channel.forget(exchange);
    else exchange.hangUp();
  }
  question.exchanges.length = 0;
}

/** Returns the failure of any server, else a time-out. */
export function exhausted(question: Question): Lookup<RecordType> {
  return question.detail === null ? emptyLookup("timeout") : emptyLookup("error", 0, question.detail);
}

/** Returns the answer to the last name of a CNAME chain as one to the first. */
export function withAlias(question: Question, lookup: Lookup<RecordType>): Lookup<RecordType> {
  if (question.hops === 0) return lookup;
  return { ...lookup, alias: true, ttlSeconds: Math.min(lookup.ttlSeconds, question.aliasTtlSeconds) };
}
