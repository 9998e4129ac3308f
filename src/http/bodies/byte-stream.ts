/** How long a reader may take nothing, by default. */
export const READER_STALL_MS = 60_000;
/** An error resets the connection, and what it holds of former parts is lost, though it is charged: it gets this long to go. */
const LINGER_MS = 1_000;

/**
 * Creates a body that is produced as fast as it is read. It is cancelled once its reader takes nothing for `stallMs`.
 * `onEnd` is called once: true where everything was read, false where the reader left, stalled, or the source failed.
 */
export function byteStream(
  source: AsyncGenerator<Uint8Array, void, undefined>,
  options: {
    readonly stallMs: number;
    readonly onEnd: (complete: boolean) => void;
    /** Called once after `onEnd`, when the source has ended. */
    readonly onSettled?: (complete: boolean) => void;
    /** Called with the error of the source; the reader only sees the connection break off. */
    readonly onError: (error: unknown) => void;
    /** Called with each part after the reader has taken it. */
    readonly onTaken?: (part: Uint8Array) => void;
  },
): ReadableStream<Uint8Array> {
  let last: Uint8Array | undefined;
  let hasBegun = false;
  let stall: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  /** Returns whether this call ended it. */
  const end = (complete: boolean): boolean => {
    clearTimeout(stall);
    if (ended) return false;
    ended = true;
    options.onEnd(complete);
    return true;
  };
  const stop = async () => {
    if (end(false)) await source.return().finally(() => options.onSettled?.(false));
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        if (last !== undefined) options.onTaken?.(last);
        last = undefined;
        try {
          const { done, value } = await source.next();
          if (ended) return;
          if (done === true) {
            end(true);
            options.onSettled?.(true);
            controller.close();
            return;
          }
          last = value;
          hasBegun = true;
          controller.enqueue(value);
        } catch (error) {
          // The reader left meanwhile, which cancelled the work.
          if (ended && error instanceof Error && error.name === "AbortError") return;
          options.onError(error);
          if (end(false)) {
            options.onSettled?.(false);
            if (hasBegun) await Bun.sleep(LINGER_MS);
          }
          controller.error(new Error("The source of the reply failed"));
          return;
        }
        stall = setTimeout(() => {
          controller.error(new Error("The reader stalled"));
          void stop();
        }, options.stallMs);
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

/** Up to this size the server sends headers and body together; they take less than 2 KB of its 16 KB. */
const SENT_TOGETHER_BYTES_MAX = 8_192;

/**
 * A large body as a stream of one piece, without a `Content-Length`: with one, a reply that is made after its handler first
 * waited goes out a word of its headers at a time, in 30 packets and 0.1 ms rather than in two.
 */
export function inOnePiece(body: Uint8Array): Uint8Array | ReadableStream<Uint8Array> {
  if (body.byteLength <= SENT_TOGETHER_BYTES_MAX) return body;
  return new ReadableStream({
    start(parts) {
      parts.enqueue(body);
      parts.close();
    },
  });
}

/** The body of a HEAD whose length is not known: with a null or empty body the server would send `Content-Length: 0`. */
export function unsentBody(): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(parts) {
        parts.enqueue(new Uint8Array(1));
        parts.close();
      },
    },
    { highWaterMark: 0 },
  );
}
