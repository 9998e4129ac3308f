import type { Clock } from "../platform/clock.ts";
import { emptyLookup, type Lookup, type RecordType } from "./lookup.ts";
import type { Query } from "./query.ts";
import {
  type Exchange,
  endExchanges,
  exhausted,
  isOpen,
  type Question,
  type Server,
  withAlias,
} from "./question.ts";
import { ALIASES_MAX, type Reading } from "./reply.ts";
import type { ResolverStats } from "./resolver-options.ts";
import { formatServerAddress, type ServerAddress } from "./server-address.ts";
import { createServerHealth } from "./server-health.ts";
import { createTransport } from "./transport.ts";

/** Schedules the attempts of questions over the servers. */
export type QueryAttempts = {
  /** Starts the attempts of a question, at the first server. */
  readonly start: (question: Question) => void;
  /** Must be called once `nextAttemptAt` has passed. */
  readonly timedOut: (question: Question) => void;
  readonly stats: () => Pick<ResolverStats, "queries" | "retries" | "tcpQueries" | "ignored" | "servers">;
  /** Received replies that wait for the main thread. */
  readonly unread: () => number;
  readonly close: () => void;
};

export type QueryAttemptsOptions = {
  readonly addresses: readonly ServerAddress[];
  readonly clock: Clock;
  readonly random16: () => number;
  /** How long each attempt waits before the next one; their number is the number of attempts. */
  readonly attemptTimeoutsMs: readonly number[];
  /** How long a failed server is tried last. */
  readonly serverPenaltyMs: number;
  readonly finish: (question: Question, lookup: Lookup<RecordType>) => void;
  /** Called when an attempt of a question has timed out. */
  readonly onLate: (question: Question) => void;
};

/** From this attempt on queries are without EDNS, for paths that drop messages with it. */
const PLAIN_FROM_ATTEMPT = 2;

/** Tries one server after the other, healthy ones first. */
export function createQueryAttempts(options: QueryAttemptsOptions): QueryAttempts {
  const { addresses, clock, random16, attemptTimeoutsMs, serverPenaltyMs, finish, onLate } = options;
  const transport = createTransport({
    addresses,
    clock,
    random16,
    onReply,
    onUnreachable,
    onTcpFailure: ({ question, server }) => refused(question, server, "tcp_failed"),
  });
  const { servers } = transport;
  const health = createServerHealth(servers, clock, serverPenaltyMs);
  let retries = 0;

  function start(question: Question): void {
    question.servers = health.order();
    question.attempts = 0;
    question.refusals = 0;
    attempt(question);
  }

  function attempt(question: Question): void {
    const timeoutMs = attemptTimeoutsMs[question.attempts];
    const server = question.servers[question.attempts % question.servers.length];
    if (timeoutMs === undefined || server === undefined) {
      finish(question, exhausted(question));
      return;
    }
    if (question.attempts > 0) retries++;
    const edns = question.attempts < PLAIN_FROM_ATTEMPT;
    question.attempts++;
    question.nextAttemptAt = clock.monotonic() + timeoutMs;
    ask(question, server, edns);
  }

  function ask(question: Question, server: Server, edns: boolean): void {
    if (transport.sendByUdp(question, server, edns)) return;
    finish(question, emptyLookup("error", 0, "unusable_name"));
  }

  function onReply(exchange: Exchange, reading: Reading<RecordType>): void {
    const { question, server, query, edns } = exchange;
    const isByUdp = exchange.hangUp === null;
    if (isByUdp) health.succeeded(server);
    switch (reading.kind) {
      case "done":
        finish(question, withAlias(question, reading.lookup));
        return;
      case "alias":
        follow(question, reading);
        return;
      case "truncated":
        if (isByUdp) retryByTcp(question, server, query);
        else refused(question, server, "truncated");
        return;
      case "failed":
        if (edns && (reading.rcode === "formerr" || reading.rcode === "notimp")) ask(question, server, false);
        else refused(question, server, reading.rcode);
        return;
      case "malformed":
        refused(question, server, "malformed");
    }
  }

  function retryByTcp(question: Question, server: Server, query: Query): void {
    question.queries++;
    question.nextAttemptAt = Math.max(
      question.nextAttemptAt,
      clock.monotonic() + (attemptTimeoutsMs.at(-1) ?? 0),
    );
    transport.sendByTcp(question, server, query);
  }

  /** Handles a failure response: tries the next server at once, each one at most twice. */
  function refused(question: Question, server: Server, detail: string): void {
    question.detail = detail;
    question.refusals++;
    if (detail === "refused") health.failed(server, true);
    const refusalsMax = Math.max(2, Math.min(servers.length + 1, attemptTimeoutsMs.length));
    if (question.refusals >= refusalsMax) finish(question, exhausted(question));
    else if (!isOpen(question)) attempt(question);
  }

  /** Handles an unreachable server. A sole one may be restarting, so its next attempt is awaited. */
  function onUnreachable({ question, server }: Exchange): void {
    question.detail = "unreachable";
    health.failed(server, true);
    if (!isOpen(question) && question.attempts < servers.length) attempt(question);
  }

  /** Queries the target of an alias whose records the reply does not contain. */
  function follow(
    question: Question,
    alias: { readonly target: string; readonly hops: number; readonly ttlSeconds: number },
  ): void {
    endExchanges(question);
    question.queries++;
    question.hops += alias.hops;
    question.aliasTtlSeconds = Math.min(question.aliasTtlSeconds, alias.ttlSeconds);
    question.name = alias.target;
    if (question.hops > ALIASES_MAX) finish(question, emptyLookup("error", 0, "cname_chain_too_long"));
    else start(question);
  }

  function timedOut(question: Question): void {
    const server = question.servers[(question.attempts - 1) % question.servers.length];
    if (server !== undefined && isOpen(question)) {
      health.failed(server, false);
      if (health.isFailing(server)) server.channel.renew();
    }
    onLate(question);
    // After the last attempt, an answer to any of them counts up to the deadline.
    const isLast = question.attempts >= attemptTimeoutsMs.length;
    if (isLast && isOpen(question)) question.nextAttemptAt = question.deadline;
    else attempt(question);
  }

  return {
    start,
    timedOut,
    stats: () => ({
      ...transport.counts(),
      retries,
      servers: servers.map((server) => ({
        address: formatServerAddress(server.address),
        failing: health.isFailing(server),
      })),
    }),
    unread: transport.unread,
    close: transport.close,
  };
}
