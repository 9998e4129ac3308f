import { createInbox } from "./inbox.ts";
import { emptyLookup, type Lookup, type RecordType, type Resolver } from "./lookup.ts";
import { isEncodable } from "./name.ts";
import { encodeQuery, type Query } from "./query.ts";
import { QUERIES_PER_QUESTION, type QueryAllowance } from "./query-allowance.ts";
import { createQueryQueue } from "./query-queue.ts";
import { createSweeper } from "./query-reaper.ts";
import {
  type Exchange,
  endExchanges,
  exhausted,
  isOpen,
  newExchange,
  newQuestion,
  type Question,
  type Server,
  withAlias,
} from "./question.ts";
import { createRandom16 } from "./random16.ts";
import { ALIASES_MAX, type Reading, readReply } from "./reply.ts";
import { RESOLVER_DEFAULTS, type ResolverStats, type StubResolverDependencies } from "./resolver-options.ts";
import { formatServerAddress } from "./server-address.ts";
import { createServerHealth } from "./server-health.ts";
import { askByTcp } from "./tcp-question.ts";
import { createUdpChannel } from "./udp-channel.ts";

export type StubResolver = Resolver & {
  readonly stats: () => ResolverStats;
  /** Replies that have come and wait for the main thread. */
  readonly unread: () => number;
  /** Ends every look-up as an `error` with the detail `closed`. */
  readonly close: () => void;
};

const LATE_PER_PLACE = 12;
/** From this attempt on EDNS is left out, for paths that drop messages which have it. */
const PLAIN_FROM_ATTEMPT = 2;

/**
 * Creates a stub resolver: it asks recursive servers by UDP, and by TCP where a reply was cut short.
 *
 * @example
 * const resolver = createStubResolver({ servers: systemServers(), clock: systemClock });
 * const { outcome, records } = await resolver.lookUp("example.com", "MX");
 */
export function createStubResolver(dependencies: StubResolverDependencies): StubResolver {
  const { clock } = dependencies;
  const settings = { ...RESOLVER_DEFAULTS, ...dependencies };
  const random16 = dependencies.random16 ?? createRandom16();
  const counts = { lookups: 0, queries: 0, retries: 0, tcpQueries: 0, timeouts: 0, errors: 0, ignored: 0 };
  const servers: readonly Server[] = dependencies.servers.map((address) => ({
    address,
    channel: createUdpChannel<Exchange>({
      server: address,
      clock,
      random16,
      onReply: replied,
      onUnreachable: unreachable,
      onIgnored: () => counts.ignored++,
    }),
  }));
  const health = createServerHealth(servers, clock, settings.serverPenaltyMs);
  const queue = createQueryQueue<Question>({
    inFlightMax: settings.inFlightMax,
    lateMax: settings.inFlightMax * LATE_PER_PLACE,
    waitingMax: settings.waitingMax,
    start,
  });
  const sweeper = createSweeper(clock, sweep);
  const tcpInbox = createInbox(repliedByTcp, clock.monotonic);
  let closed = false;

  function lookUp<T extends RecordType>(
    name: string,
    type: T,
    allowance?: QueryAllowance,
  ): Promise<Lookup<T>> {
    counts.lookups++;
    const refusal = refuse(name);
    if (refusal !== null) {
      counts.errors++;
      return Promise.resolve(emptyLookup<T>("error", 0, refusal));
    }
    if (allowance !== undefined) allowance.left -= QUERIES_PER_QUESTION;
    return new Promise((resolve) => {
      const settle = resolve as (lookup: Lookup<RecordType>) => void;
      queue.enter(newQuestion(name, type, allowance ?? null, settle));
    });
  }

  function refuse(name: string): string | null {
    if (closed) return "closed";
    if (servers.length === 0) return "no_servers";
    if (!isEncodable(name)) return "unusable_name";
    return queue.isFull() ? "queue_full" : null;
  }

  function start(question: Question): void {
    question.deadline = clock.monotonic() + settings.lookupTimeoutMs;
    sweeper.start();
    begin(question);
  }

  /** Asks for the question's name from the first server on. */
  function begin(question: Question): void {
    question.servers = health.order();
    question.attempts = 0;
    question.refusals = 0;
    attempt(question);
  }

  function attempt(question: Question): void {
    const timeoutMs = settings.attemptTimeoutsMs[question.attempts];
    const server = question.servers[question.attempts % question.servers.length];
    if (timeoutMs === undefined || server === undefined) {
      finish(question, exhausted(question));
      return;
    }
    if (question.attempts > 0) counts.retries++;
    const edns = question.attempts < PLAIN_FROM_ATTEMPT;
    question.attempts++;
    question.nextAttemptAt = clock.monotonic() + timeoutMs;
    askByUdp(question, server, edns);
  }

  function askByUdp(question: Question, server: Server, edns: boolean): void {
    const query = encodeQuery(question.name, question.type, edns);
    if (query === null) {
      finish(question, emptyLookup("error", 0, "unusable_name"));
      return;
    }
    counts.queries++;
    const exchange = newExchange(question, server, query, edns);
    server.channel.send(exchange);
  }

  function replied(exchange: Exchange, message: Uint8Array): void {
    exchange.isOpen = false;
    health.succeeded(exchange.server);
    const { question } = exchange;
    take(exchange, readReply(message, question.name, question.type));
  }

  function take(exchange: Exchange, reading: Reading<RecordType>): void {
    const { question, server, query, edns } = exchange;
    switch (reading.kind) {
      case "done":
        finish(question, withAlias(question, reading.lookup));
        return;
      case "alias":
        follow(question, reading);
        return;
      case "truncated":
        if (exchange.hangUp === null) retryByTcp(question, server, query);
        else refused(question, server, "truncated");
        return;
      case "failed":
        if (edns && (reading.rcode === "formerr" || reading.rcode === "notimp"))
          askByUdp(question, server, false);
        else refused(question, server, reading.rcode);
        return;
      case "malformed":
        refused(question, server, "malformed");
    }
  }

  function retryByTcp(question: Question, server: Server, query: Query): void {
    counts.queries++;
    counts.tcpQueries++;
    question.queries++;
    question.nextAttemptAt = Math.max(
      question.nextAttemptAt,
      clock.monotonic() + (settings.attemptTimeoutsMs.at(-1) ?? 0),
    );
    const exchange = newExchange(question, server, query, false);
    exchange.hangUp = askByTcp(server.address, query, random16(), {
      onReply: (message) => {
        if (!tcpInbox.put({ exchange, message })) fail();
      },
      onFailure: fail,
    });

    function fail(): void {
      exchange.isOpen = false;
      refused(question, server, "tcp_failed");
    }
  }

  /** Comes from the inbox: a reply by TCP may have 64 KB, and many in one turn would hold up all else. */
  function repliedByTcp({
    exchange,
    message,
  }: {
    readonly exchange: Exchange;
    readonly message: Buffer;
  }): void {
    if (!exchange.isOpen) return;
    exchange.isOpen = false;
    take(exchange, readReply(message, exchange.question.name, exchange.question.type));
  }

  /** A server has answered without an answer: the next one is asked at once, and each one twice at most. */
  function refused(question: Question, server: Server, detail: string): void {
    question.detail = detail;
    question.refusals++;
    if (detail === "refused") health.failed(server, true);
    const refusalsMax = Math.max(2, Math.min(servers.length + 1, settings.attemptTimeoutsMs.length));
    if (question.refusals >= refusalsMax) finish(question, exhausted(question));
    else if (!isOpen(question)) attempt(question);
  }

  /** Nobody listens there. A sole server may be on its way up again, so that is waited for. */
  function unreachable(exchange: Exchange): void {
    exchange.isOpen = false;
    const { question, server } = exchange;
    question.detail = "unreachable";
    health.failed(server, true);
    if (!isOpen(question) && question.attempts < servers.length) attempt(question);
  }

  /** Asks for the target of an alias that the reply named without its records. */
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
    else begin(question);
  }

  function finish(question: Question, lookup: Lookup<RecordType>): void {
    endExchanges(question);
    if (lookup.outcome === "timeout") counts.timeouts++;
    if (lookup.outcome === "error") counts.errors++;
    if (question.allowance !== null) question.allowance.left += QUERIES_PER_QUESTION - question.queries;
    // A sweep that is under way passes it by.
    question.deadline = Number.POSITIVE_INFINITY;
    question.nextAttemptAt = Number.POSITIVE_INFINITY;
    question.settle(lookup);
    queue.leave(question);
  }

  /** Starts the attempts that are due and ends what has passed its deadline. */
  function sweep(now: number): void {
    const underWay = queue.underWay();
    if (underWay.length === 0) sweeper.stop();
    for (const question of underWay) {
      if (now >= question.deadline) finish(question, exhausted(question));
      else if (now >= question.nextAttemptAt) timedOut(question);
    }
  }

  function timedOut(question: Question): void {
    const server = question.servers[(question.attempts - 1) % question.servers.length];
    if (server !== undefined && isOpen(question)) {
      health.failed(server, false);
      if (health.isFailing(server)) server.channel.renew();
    }
    queue.markLate(question);
    // After the last attempt, an answer to any of them counts up to the deadline.
    const isLast = question.attempts >= settings.attemptTimeoutsMs.length;
    if (isLast && isOpen(question)) question.nextAttemptAt = question.deadline;
    else attempt(question);
  }

  function stats(): ResolverStats {
    return {
      ...counts,
      ...queue.counts(),
      servers: servers.map((server) => ({
        address: formatServerAddress(server.address),
        failing: health.isFailing(server),
      })),
    };
  }

  function close(): void {
    closed = true;
    for (const question of queue.clear()) {
      endExchanges(question);
      question.settle(emptyLookup("error", 0, "closed"));
    }
    sweeper.stop();
    tcpInbox.clear();
    for (const server of servers) server.channel.close();
  }

  const unread = () => servers.reduce((sum, { channel }) => sum + channel.unread(), tcpInbox.waiting());

  return { lookUp, stats, unread, close };
}
