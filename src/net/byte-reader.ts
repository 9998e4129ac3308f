import type { Socket } from "node:net";
import { OutgoingError } from "./failure.ts";

/** Bytes from a connection, by lines and by parts; the connection is paused while nobody asks. */
export type ByteReader = {
  /**
   * Returns the next line without its end (LF, or CR and LF), one character for each octet; null at the end of the
   * connection. Throws OutgoingError with `reason` where it has more octets than that.
   */
  readonly readLine: (bytesMax: number, reason: "head_too_large" | "bad_response") => Promise<string | null>;
  /** Returns the next bytes, at most so many; null at the end of the connection. */
  readonly readPart: (bytesMax: number) => Promise<Uint8Array | null>;
};

const LINE_END = 0x0a;

/** Reads a socket. Throws OutgoingError (`body_incomplete`) where the connection breaks. */
export function createByteReader(socket: Socket): ByteReader {
  const next = createPuller(socket);
  let rest: Uint8Array = new Uint8Array(0);

  async function fill(): Promise<boolean> {
    if (rest.length > 0) return true;
    const chunk = await next();
    if (chunk === null) return false;
    rest = chunk;
    return true;
  }

  return {
    async readLine(bytesMax, reason) {
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      while (await fill()) {
        const at = rest.indexOf(LINE_END);
        const piece = at === -1 ? rest : rest.subarray(0, at);
        bytes += piece.length;
        if (bytes > bytesMax) throw new OutgoingError(reason, `a line or head passes ${bytesMax} bytes`);
        pieces.push(piece);
        rest = at === -1 ? rest.subarray(rest.length) : rest.subarray(at + 1);
        if (at === -1) continue;
        const line = Buffer.concat(pieces).toString("latin1");
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      return null;
    },
    async readPart(bytesMax) {
      if (!(await fill())) return null;
      const part = rest.subarray(0, bytesMax);
      rest = rest.subarray(part.length);
      return part;
    },
  };
}

/** Returns what gives the next chunk, null at the end; one call at a time. */
function createPuller(socket: Socket): () => Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let ending: { readonly error: OutgoingError | null } | null = null;
  let waiting: (() => void) | null = null;
  const wake = (): void => {
    waiting?.();
    waiting = null;
  };
  const end = (error: OutgoingError | null): void => {
    ending ??= { error };
    wake();
  };
  socket.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    socket.pause();
    wake();
  });
  socket.once("end", () => end(null));
  socket.once("error", (cause: Error) =>
    end(new OutgoingError("body_incomplete", "the connection broke", { cause })),
  );
  const closed = () => end(new OutgoingError("body_incomplete", "the connection was closed"));
  if (socket.destroyed) closed();
  else socket.once("close", closed);
  return async () => {
    if (chunks.length === 0 && ending === null) {
      await new Promise<void>((resolve) => {
        waiting = resolve;
        socket.resume();
      });
    }
    const chunk = chunks.shift();
    if (chunk !== undefined) return chunk;
    const error = ending?.error ?? null;
    if (error !== null) throw error;
    return null;
  };
}
