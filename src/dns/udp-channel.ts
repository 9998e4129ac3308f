import { isIPv6 } from "node:net";
import type { Clock } from "../clock.ts";
import { isReplyTo, type Query, writeId } from "./query.ts";
import type { ServerAddress } from "./server-address.ts";

/** One question on its way to one server by UDP. */
export type Transaction = {
  readonly query: Query;
  /** Called once at most, with a message that matches by id, question and source. */
  readonly onReply: (message: Buffer) => void;
  /** Called in place of `onReply` where the machine says that nobody listens there. */
  readonly onUnreachable: () => void;
  port: Port | null;
  id: number;
};

/** The UDP sockets to one server. */
export type UdpChannel = {
  readonly send: (transaction: Transaction) => void;
  /** Forgets a transaction; a reply that comes later is ignored. */
  readonly forget: (transaction: Transaction) => void;
  /** Gives up sockets over a second old, to find a new route where the machine has moved to another network. */
  readonly renew: () => void;
  readonly close: () => void;
};

type ChannelParts = {
  readonly server: ServerAddress;
  readonly clock: Clock;
  /** A random integer of 16 bits. */
  readonly random16: () => number;
  /** Told of each datagram that answers no open question. */
  readonly onIgnored: () => void;
};

/** A connected socket: the system drops what comes from any other address. */
type Port = {
  readonly socket: Bun.udp.ConnectedSocket<"buffer">;
  readonly pending: Map<number, Transaction>;
  readonly bornAt: number;
  sent: number;
  retired: boolean;
};

/**
 * Replies wait in the socket's receive buffer, and the usual one of Linux holds some 250: measured, 200 questions
 * at a time by one socket lose replies, by four they lose none.
 */
const PORTS_OPEN = 4;
/** After so many questions or so long, a socket gives way to one with another random source port. */
const QUESTIONS_PER_PORT_MAX = 4096;
const PORT_AGE_MAX_MS = 60_000;
const RENEWAL_AGE_MS = 1_000;

/** Opens nothing until the first transaction. Source ports are the system's choice, at random. */
export function createUdpChannel({ server, clock, random16, onIgnored }: ChannelParts): UdpChannel {
  const ports: Port[] = [];
  /** What waits for the sockets to open: no more than the resolver lets be in flight. */
  const backlog: Transaction[] = [];
  let opening = 0;
  let turn = 0;
  let closed = false;

  function send(transaction: Transaction): void {
    for (let count = ports.length + opening; count < PORTS_OPEN; count++) void open();
    const port = opening > 0 && ports.length < PORTS_OPEN ? null : nextPort();
    if (port !== null) dispatch(port, transaction);
    else backlog.push(transaction);
  }

  function nextPort(): Port | null {
    const port = ports[turn++ % ports.length];
    if (port === undefined) return null;
    const spent = port.sent >= QUESTIONS_PER_PORT_MAX || clock.monotonic() - port.bornAt > PORT_AGE_MAX_MS;
    if (spent && opening === 0) void open(port);
    return port;
  }

  function dispatch(port: Port, transaction: Transaction): void {
    let id = random16();
    while (port.pending.has(id)) id = random16();
    transaction.id = id;
    transaction.port = port;
    port.pending.set(id, transaction);
    port.sent++;
    writeId(transaction.query.packet, id);
    try {
      port.socket.send(transaction.query.packet);
    } catch {
      unreachable(port);
    }
  }

  async function open(replaced?: Port): Promise<void> {
    opening++;
    const port = await openPort();
    opening--;
    if (port !== null) adopt(port, replaced);
    else if (opening === 0) sendBacklog();
  }

  /** Spreads what has waited over the sockets that could be opened. */
  function sendBacklog(): void {
    for (const waiting of backlog.splice(0)) {
      const port = nextPort();
      if (port !== null) dispatch(port, waiting);
      else waiting.onUnreachable();
    }
  }

  async function openPort(): Promise<Port | null> {
    let port: Port | null = null;
    const onData = (message: Buffer) => {
      if (port !== null) receive(port, message);
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
      port = { socket, pending: new Map(), bornAt: clock.monotonic(), sent: 0, retired: false };
      return port;
    } catch {
      return null;
    }
  }

  function adopt(port: Port, replaced?: Port): void {
    if (closed) {
      port.socket.close();
      return;
    }
    if (replaced !== undefined) retire(replaced);
    ports.push(port);
    if (opening === 0) sendBacklog();
  }

  function receive(port: Port, message: Buffer): void {
    const transaction = message.length >= 2 ? port.pending.get(message.readUInt16BE(0)) : undefined;
    if (transaction === undefined || !isReplyTo(message, transaction.query)) {
      onIgnored();
      return;
    }
    forget(transaction);
    transaction.onReply(message);
  }

  function unreachable(port: Port): void {
    for (const transaction of [...port.pending.values()]) {
      if (transaction.port !== port) continue;
      forget(transaction);
      transaction.onUnreachable();
    }
  }

  function forget(transaction: Transaction): void {
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

  function retire(port: Port): void {
    const at = ports.indexOf(port);
    if (at < 0) return;
    ports.splice(at, 1);
    port.retired = true;
    if (port.pending.size === 0) port.socket.close();
  }

  function renew(): void {
    const now = clock.monotonic();
    for (const port of [...ports]) if (now - port.bornAt > RENEWAL_AGE_MS) retire(port);
  }

  function close(): void {
    closed = true;
    backlog.length = 0;
    for (const port of ports.splice(0)) port.socket.close();
  }

  return { send, forget, renew, close };
}
