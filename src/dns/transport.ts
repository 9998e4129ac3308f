import type { Clock } from "../platform/clock.ts";
import { createInbox } from "./inbox.ts";
import type { RecordType } from "./lookup.ts";
import { encodeQuery, type Query } from "./query.ts";
import { type Exchange, newExchange, type Question, type Server } from "./question.ts";
import { type Reading, readReply } from "./reply.ts";
import type { ResolverStats } from "./resolver-options.ts";
import type { ServerAddress } from "./server-address.ts";
import { askByTcp } from "./tcp-question.ts";
import { createUdpChannel } from "./udp-channel.ts";

/** Sends queries to servers and parses their replies. */
export type Transport = {
  readonly servers: readonly Server[];
  /** Returns false for a name that cannot be encoded. */
  readonly sendByUdp: (question: Question, server: Server, edns: boolean) => boolean;
  /** Repeats a query by TCP after a truncated reply. */
  readonly sendByTcp: (question: Question, server: Server, query: Query) => void;
  readonly counts: () => Pick<ResolverStats, "queries" | "tcpQueries" | "ignored">;
  /** Received replies that wait for the main thread. */
  readonly unread: () => number;
  readonly close: () => void;
};

export type TransportOptions = {
  readonly addresses: readonly ServerAddress[];
  readonly clock: Clock;
  readonly random16: () => number;
  /** Called with the reply to an open exchange, which is closed by then. */
  readonly onReply: (exchange: Exchange, reading: Reading<RecordType>) => void;
  /** Called where the system reports a server as unreachable by UDP. */
  readonly onUnreachable: (exchange: Exchange) => void;
  readonly onTcpFailure: (exchange: Exchange) => void;
};

/** Sends by UDP, one channel for each server, and by TCP, one connection for each query. */
export function createTransport(options: TransportOptions): Transport {
  const { addresses, clock, random16, onReply, onUnreachable, onTcpFailure } = options;
  const counts = { queries: 0, tcpQueries: 0, ignored: 0 };
  const servers: readonly Server[] = addresses.map((address) => ({
    address,
    channel: createUdpChannel<Exchange>({
      server: address,
      clock,
      random16,
      onReply: read,
      onUnreachable(exchange) {
        exchange.isOpen = false;
        onUnreachable(exchange);
      },
      onIgnored: () => counts.ignored++,
    }),
  }));
  // A reply by TCP may have 64 KB: many in one turn would block the event loop.
  const tcpInbox = createInbox<{ readonly exchange: Exchange; readonly message: Buffer }>(
    ({ exchange, message }) => {
      if (exchange.isOpen) read(exchange, message);
    },
    clock.monotonic,
  );

  function read(exchange: Exchange, message: Uint8Array): void {
    exchange.isOpen = false;
    onReply(exchange, readReply(message, exchange.question.name, exchange.question.type));
  }

  return {
    servers,
    sendByUdp(question, server, edns) {
      const query = encodeQuery(question.name, question.type, edns);
      if (query === null) return false;
      counts.queries++;
      server.channel.send(newExchange(question, server, query, edns));
      return true;
    },
    sendByTcp(question, server, query) {
      counts.queries++;
      counts.tcpQueries++;
      const exchange = newExchange(question, server, query, false);
      exchange.hangUp = askByTcp(server.address, query, random16(), {
        onReply: (message) => {
          if (!tcpInbox.put({ exchange, message })) fail();
        },
        onFailure: fail,
      });

      function fail(): void {
        exchange.isOpen = false;
        onTcpFailure(exchange);
      }
    },
    counts: () => counts,
    unread: () => servers.reduce((sum, { channel }) => sum + channel.unread(), tcpInbox.waiting()),
    close() {
      tcpInbox.clear();
      for (const server of servers) server.channel.close();
    },
  };
}
