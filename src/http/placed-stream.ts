import { byteStream } from "./bodies/byte-stream.ts";
import type { Call } from "./call.ts";

/**
 * Streams the parts of a reply, whose reader holds a place until all is read, or the reader leaves or stalls. The call ends
 * with it.
 */
export function placedStream(
  call: Call,
  parts: AsyncGenerator<Uint8Array, void, undefined>,
  options: { readonly status: number; readonly stallMs: number; readonly place: Disposable },
): ReadableStream<Uint8Array> {
  const { status, stallMs, place } = options;
  call.streaming = true;
  return byteStream(parts, {
    stallMs,
    onError: (error: unknown) => call.reportError(error),
    onEnd(isRead) {
      place[Symbol.dispose]();
      call.finish(status, isRead ? "complete" : "cut");
    },
  });
}

/** Returns parts as `placedStream` reads them; the source is left where its reader leaves. */
export async function* partsOf(
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* parts;
}
