import { isIPv6 } from "node:net";
import type { Clock } from "../platform/clock.ts";
import { createInbox } from "./inbox.ts";
import { uint16 } from "./message-bytes.ts";
import { isReplyTo, type Query, writeId } from "./query.ts";
import type { ServerAddress } from "./server-address.ts";

/** A query in flight to one server by UDP. Only the channel changes `port` and `id`. */
export type Transaction<Sent> = {
  readonly query: Query;
  port: Port<Sent> | null;
  id: number;
};

/** The UDP sockets to one server. */
export type UdpChannel<Sent> = {
  /** Sends in one batch with all other queries of this turn of the event loop. */
  readonly send: (transaction: Sent) => void;
  /** Forgets a transaction; a reply that comes later is ignored. */
  readonly forget: (transaction: Sent) => void;
  /** Retires sockets older than a second, to get a new route where the machine has changed networks. */
  readonly renew: () => void;
  /** Received replies that wait to be read. */
  readonly unread: () => number;
  readonly close: () => void;
};

export type UdpChannelDependencies<Sent> = {
  readonly server: ServerAddress;
  readonly clock: Clock;
  /** A random integer of 16 bits. */
  readonly random16: () => number;
  /** Called at most once for a transaction, with a message that matches by id, question and source. */
  readonly onReply: (transaction: Sent, message: Uint8Array) => void;
  /** Called instead of `onReply` where the system reports the server as unreachable. */
  readonly onUnreachable: (transaction: Sent) => void;
  /** Called for each datagram that matches no open question. */
  readonly onIgnored: () => void;
};

/** A connected socket: the system drops what comes from any other address. */
type Port<Sent> = {
  readonly socket: Bun.udp.ConnectedSocket<"buffer">;
  readonly pending: Map<number, Sent>;
  /** Packets of this turn of the event loop. */
  outbox: Uint8Array[];
  readonly openedAt: number;
  sent: number;
  retired: boolean;
};

/** A reply in the inbox, with the transaction that it answers. */
type Received<Sent> = { readonly transaction: Sent; readonly message: Buffer };

/**
 * Replies wait in the socket's receive buffer, and the usual one of Linux holds some 250 small ones or 30 of over a
 * kilobyte: measured, 200 questions at a time by four sockets lose 80 large replies, by eight they lose none.
 */
const PORTS_OPEN = 8;
/** After this many questions or this long, a socket is replaced by one with another random source port. */
const QUESTIONS_PER_PORT_MAX = 4096;
const PORT_AGE_MAX_MS = 60_000;
const RENEWAL_AGE_MS = 1_000;
/** Packets that are sent without waiting for the end of the turn, which may be long. */
const OUTBOX_MAX = 16;

/** Creates a channel that opens its sockets with the first transaction. The system chooses random source ports. */
export function createUdpChannel<Sent extends Transaction<Sent>>(
  dependencies: UdpChannelDependencies<Sent>,
): UdpChannel<Sent> {
  const { server, clock, random16 } = dependencies;
  const ports: Port<Sent>[] = [];
  /** Transactions that wait for the sockets to open; the resolver bounds their number. */
  const backlog: Sent[] = [];
  const inbox = createInbox<Received<Sent>>(receive, clock.monotonic);
  let opening = 0;
  let turn = 0;
  let flushing = false;
  let closed = false;

  function send(transaction: Sent): void {
    for (let count = ports.length + opening; count < PORTS_OPEN; count++) void open();
    const port = opening > 0 && ports.length < PORTS_OPEN ? null : nextPort();
    if (port !== null) dispatch(port, transaction);
    else backlog.push(transaction);
  }

  function nextPort(): Port<Sent> | null {
    const port = ports[turn % ports.length];
    if (port === undefined) return null;
    const spent = port.sent >= QUESTIONS_PER_PORT_MAX || clock.monotonic() - port.openedAt > PORT_AGE_MAX_MS;
    if (spent && opening === 0) void open(port);
    return port;
  }

  function dispatch(port: Port<Sent>, transaction: Sent): void {
    let id = random16();
    while (port.pending.has(id)) id = random16();
    transaction.id = id;
    transaction.port = port;
    port.pending.set(id, transaction);
    port.sent++;
    writeId(transaction.query.packet, id);
    if (port.outbox.push(transaction.query.packet) >= OUTBOX_MAX) {
      turn++;
      flush(port);
    } else if (!flushing) {
      flushing = true;
      setImmediate(flushAll);
    }
  }

  function flushAll(): void {
    flushing = false;
    turn++;
    for (const port of [...ports]) flush(port);
  }

  /**
   * Sends the packets of a socket. Those that a full send buffer refuses are lost like any datagram: the next attempt
   * replaces them.
   */
  function flush(port: Port<Sent>): void {
    const packets = port.outbox;
    if (packets.length === 0) return;
    port.outbox = [];
    try {
      port.socket.sendMany(packets);
    } catch {
      unreachable(port);
    }
  }

  async function open(replaced?: Port<Sent>): Promise<void> {
    opening++;
    const port = await openPort();
    opening--;
    if (port !== null) adopt(port, replaced);
    else if (opening === 0) sendBacklog();
  }

  /** Distributes the backlog over the open sockets. */
  function sendBacklog(): void {
    for (const waiting of backlog.splice(0)) {
      const port = nextPort();
      if (port !== null) dispatch(port, waiting);
      else dependencies.onUnreachable(waiting);
    }
  }

  async function openPort(): Promise<Port<Sent> | null> {
    let port: Port<Sent> | null = null;
    // Datagrams that match no open question take no room in the inbox.
    const onData = (message: Buffer) => {
      if (port === null) return;
      const transaction = transactionOf(port, message);
      if (transaction === undefined || !inbox.put({ transaction, message })) dependencies.onIgnored();
    };
    const onError = () => {
      if (port !== null) unreachable(port);
    };
    try {
      const socket = await Bun.udpSocket({
        hostname: isIPv6(server.ip) ? "::" : "0.0.0.0",
        binaryType: "buffer",
        connect: { hostname: server.ip, port: server.port },
        socket: { data: (_socket, message) => onData(message), error: onError },
      });
      const openedAt = clock.monotonic();
      port = { socket, pending: new Map(), outbox: [], openedAt, sent: 0, retired: false };
      return port;
    } catch {
      return null;
    }
  }

  function adopt(port: Port<Sent>, replaced?: Port<Sent>): void {
    if (closed) {
      port.socket.close();
      return;
    }
    if (replaced !== undefined) retire(replaced);
    ports.push(port);
    if (opening === 0) sendBacklog();
  }

  function transactionOf(port: Port<Sent>, message: Buffer): Sent | undefined {
    const transaction = port.pending.get(uint16(message, 0));
    return transaction !== undefined && isReplyTo(message, transaction.query) ? transaction : undefined;
  }

  function receive({ transaction, message }: Received<Sent>): void {
    if (transaction.port === null) {
      dependencies.onIgnored();
      return;
    }
    forget(transaction);
    dependencies.onReply(transaction, message);
  }

  function unreachable(port: Port<Sent>): void {
    for (const transaction of [...port.pending.values()]) {
      if (transaction.port !== port) continue;
      forget(transaction);
      dependencies.onUnreachable(transaction);
    }
  }

  function forget(transaction: Sent): void {
    const { port } = transaction;
    if (port === null) {
      const at = backlog.indexOf(transaction);
      if (at >= 0) backlog.splice(at, 1);
      return;
    }
    transaction.port = null;
    port.pending.delete(transaction.id);
    if (port.retired && port.pending.size === 0) port.socket.close();
  }

  /** Sends the last packets of a socket, and closes it once all its transactions are answered or forgotten. */
  function retire(port: Port<Sent>): void {
    const at = ports.indexOf(port);
    if (at < 0) return;
    ports.splice(at, 1);
    flush(port);
    port.retired = true;
    if (port.pending.size === 0) port.socket.close();
  }

  function renew(): void {
    const now = clock.monotonic();
    for (const port of [...ports]) if (now - port.openedAt > RENEWAL_AGE_MS) retire(port);
  }

  function close(): void {
    closed = true;
    backlog.length = 0;
    inbox.clear();
    for (const port of ports.splice(0)) port.socket.close();
  }

  return { send, forget, renew, unread: inbox.waiting, close };
}
