import { OutgoingError } from "./failure.ts";
import type { OutgoingSocket } from "./socket.ts";

/** Reads a connection by lines and by parts. The connection is paused while 64 KB are buffered. */
export type ByteReader = {
  /**
   * Returns the next line without its end (LF, or CR and LF), one character for each octet; null at the end of the
   * connection. Throws OutgoingError (`head_too_large`) where it has more octets than that.
   */
  readonly readLine: (bytesMax: number) => Promise<string | null>;
  /** Returns the next bytes, at most `bytesMax`; null at the end of the connection. */
  readonly readPart: (bytesMax: number) => Promise<Uint8Array | null>;
  /** Pushes all further bytes to a sink, instead of the two methods above; buffered ones at once. */
  readonly flow: (sink: ByteSink) => void;
  /** Pauses the pushed bytes, within one more part. */
  readonly pause: () => void;
  readonly resume: () => void;
};

/** Receives bytes as they arrive. */
export type ByteSink = {
  readonly part: (bytes: Uint8Array) => void;
  /** Called once, last: null at the regular end. */
  readonly end: (error: OutgoingError | null) => void;
};

const LINE_END = 0x0a;
/** Buffered bytes before the connection is paused: pausing for each chunk would take longer than reading it. */
const WAITING_BYTES_MAX = 65_536;

/** Reads a socket. Throws OutgoingError (`body_incomplete`) where the connection breaks. */
export function createByteReader(socket: OutgoingSocket): ByteReader {
  const { next, flow, pause, resume } = createPuller(socket);
  let rest: Uint8Array = new Uint8Array(0);

  async function fill(): Promise<boolean> {
    if (rest.length > 0) return true;
    const chunk = await next();
    if (chunk === null) return false;
    rest = chunk;
    return true;
  }

  return {
    async readLine(bytesMax) {
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      while (await fill()) {
        const at = rest.indexOf(LINE_END);
        const piece = at === -1 ? rest : rest.subarray(0, at);
        bytes += piece.length;
        if (bytes > bytesMax)
          throw new OutgoingError("head_too_large", `a line or head passes ${bytesMax} bytes`);
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
    flow(sink) {
      if (rest.length > 0) sink.part(rest);
      flow(sink);
    },
    pause,
    resume,
  };
}

type Puller = Pick<ByteReader, "flow" | "pause" | "resume"> & {
  /** Returns the next chunk, null at the end; one call at a time. */
  readonly next: () => Promise<Uint8Array | null>;
};

function createPuller(socket: OutgoingSocket): Puller {
  const chunks: Uint8Array[] = [];
  let waitingBytes = 0;
  // A connection arrives paused.
  let isPaused = true;
  /** Whether the sink wants nothing for now. */
  let isHeld = false;
  let sink: ByteSink | null = null;
  let ending: { readonly error: OutgoingError | null } | null = null;
  let waiting: (() => void) | null = null;
  const wake = (): void => {
    waiting?.();
    waiting = null;
  };
  const end = (error: OutgoingError | null): void => {
    if (ending !== null) return;
    ending = { error };
    sink?.end(error);
    wake();
  };
  const setPaused = (wanted: boolean): void => {
    if (isPaused === wanted) return;
    isPaused = wanted;
    if (wanted) socket.pause();
    else socket.resume();
  };
  const incomplete = (message: string, cause?: Error) =>
    end(new OutgoingError("body_incomplete", message, cause === undefined ? {} : { cause }));
  socket.listen({
    data(chunk) {
      if (sink !== null) {
        sink.part(chunk);
        return;
      }
      chunks.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= WAITING_BYTES_MAX) setPaused(true);
      wake();
    },
    end: () => end(null),
    fail: (cause) => incomplete("the connection broke", cause),
    close: () => incomplete("the connection was closed"),
  });
  return {
    async next() {
      if (chunks.length === 0 && ending === null) {
        await new Promise<void>((resolve) => {
          waiting = resolve;
          setPaused(false);
        });
      }
      const chunk = chunks.shift();
      waitingBytes -= chunk?.length ?? 0;
      if (chunk !== undefined) return chunk;
      const error = ending?.error ?? null;
      if (error !== null) throw error;
      return null;
    },
    flow(to) {
      for (const chunk of chunks) to.part(chunk);
      sink = to;
      if (ending !== null) to.end(ending.error);
      else setPaused(isHeld);
    },
    pause() {
      isHeld = true;
      setPaused(true);
    },
    resume() {
      isHeld = false;
      setPaused(false);
    },
  };
}
