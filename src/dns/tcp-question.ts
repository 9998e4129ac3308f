import { connect } from "node:net";
import { isReplyTo, type Query, writeId } from "./query.ts";
import type { ServerAddress } from "./server-address.ts";

/**
 * The callbacks of a question by TCP. One of them is called, once: `onReply` with a matching message, or `onFailure`.
 */
export type TcpOutcome = {
  readonly onReply: (message: Buffer) => void;
  readonly onFailure: () => void;
};

const LENGTH_OCTETS = 2;

/**
 * Sends a query over a TCP connection of its own, and returns a function that closes it without a callback. The
 * caller sets the deadline. Bun's own sockets take 0.05 ms of CPU time less than those of `node:net`, but cannot be closed
 * while they connect: to a server that drops what comes by TCP, each would stay for two minutes.
 */
export function askByTcp(server: ServerAddress, query: Query, id: number, outcome: TcpOutcome): () => void {
  const framed = Buffer.alloc(LENGTH_OCTETS + query.packet.length);
  framed.writeUInt16BE(query.packet.length, 0);
  framed.set(query.packet, LENGTH_OCTETS);
  writeId(framed.subarray(LENGTH_OCTETS), id);

  const reader = createMessageReader();
  let ended = false;
  const socket = connect({ host: server.ip, port: server.port });

  function end(report?: () => void): void {
    if (ended) return;
    ended = true;
    socket.destroy();
    report?.();
  }
  const fail = () => end(outcome.onFailure);

  function receive(chunk: Buffer): void {
    const message = ended ? null : reader(chunk);
    if (message === null) return;
    const matches = message.length >= 2 && message.readUInt16BE(0) === id && isReplyTo(message, query);
    end(() => (matches ? outcome.onReply(message) : outcome.onFailure()));
  }

  socket.on("data", receive);
  for (const event of ["end", "error", "close"]) socket.on(event, fail);
  // Sent once the connection is there.
  socket.write(framed);
  return () => end();
}

/**
 * Creates a reader of one length-prefixed message, which returns it once it is complete, else null. Buffers no more
 * than has arrived.
 */
function createMessageReader(): (chunk: Buffer) => Buffer | null {
  let parts: Buffer[] = [];
  let filled = 0;
  let end: number | null = null;
  return (chunk) => {
    parts.push(chunk);
    filled += chunk.length;
    if (end === null && filled >= LENGTH_OCTETS) {
      parts = [Buffer.concat(parts)];
      end = LENGTH_OCTETS + (parts[0]?.readUInt16BE(0) ?? 0);
    }
    return end === null || filled < end ? null : Buffer.concat(parts).subarray(LENGTH_OCTETS, end);
  };
}
