import { connect, type Socket } from "node:net";
import { isReplyTo, type Query, writeId } from "./query.ts";
import type { ServerAddress } from "./server-address.ts";

/** How a question by TCP can end: `onReply` once, with a matching message, or `onFailure` once. */
export type TcpOutcome = {
  readonly onReply: (message: Buffer) => void;
  readonly onFailure: () => void;
};

const LENGTH_OCTETS = 2;

/**
 * Asks by TCP, over a connection of its own, and returns a function that gives up without a word. The caller
 * sets the deadline.
 */
export function askByTcp(server: ServerAddress, query: Query, id: number, outcome: TcpOutcome): () => void {
  const framed = Buffer.alloc(LENGTH_OCTETS + query.packet.length);
  framed.writeUInt16BE(query.packet.length, 0);
  framed.set(query.packet, LENGTH_OCTETS);
  writeId(framed.subarray(LENGTH_OCTETS), id);

  const reader = createMessageReader();
  let ended = false;
  const socket: Socket = connect({ host: server.ip, port: server.port });
  socket.setNoDelay(true);

  function end(report?: () => void): void {
    if (ended) return;
    ended = true;
    socket.destroy();
    report?.();
  }

  socket.on("connect", () => socket.write(framed));
  socket.on("data", (chunk: Buffer) => {
    const message = reader(chunk);
    if (message === null) return;
    const matches = message.length >= 2 && message.readUInt16BE(0) === id && isReplyTo(message, query);
    end(() => (matches ? outcome.onReply(message) : outcome.onFailure()));
  });
  socket.on("error", () => end(outcome.onFailure));
  socket.on("close", () => end(outcome.onFailure));
  return () => end();
}

/** Collects one message behind its length; returns it when it is whole, else null. Holds no more than has come. */
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
