import type { JobInput, JobText } from "./job-types.ts";

/** Rows are written as text in pieces of about this many characters. */
const PIECE_CHARS = 65_536;

export function mediaTypeOf(input: JobInput): string {
  if ("csv" in input) return "text/csv";
  return "text" in input ? "text/plain" : "application/x-ndjson";
}

/**
 * Returns the bytes of an input in parts of `partBytes`, the last one shorter; at least one, which may be empty. Throws the
 * reason of a signal that is aborted, also where the input yields nothing. Leaving the walk closes the input.
 */
export async function* partsOf(
  input: JobInput,
  partBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let part = new Uint8Array(partBytes);
  let filled = 0;
  let isFirst = true;
  for await (const piece of piecesOf(input, signal)) {
    for (let from = 0; from < piece.byteLength; ) {
      if (filled === partBytes) {
        yield part;
        isFirst = false;
        part = new Uint8Array(partBytes);
        filled = 0;
      }
      const some = piece.subarray(from, from + partBytes - filled);
      part.set(some, filled);
      filled += some.byteLength;
      from += some.byteLength;
    }
  }
  if (filled > 0 || isFirst) yield part.subarray(0, filled);
}

async function* piecesOf(
  input: JobInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  if ("rows" in input) {
    let text = "";
    for await (const row of untilAborted(input.rows, signal)) {
      text += `${JSON.stringify(row)}\n`;
      if (text.length < PIECE_CHARS) continue;
      yield encoder.encode(text);
      text = "";
    }
    yield encoder.encode(text);
    return;
  }
  const text = "csv" in input ? input.csv : "text" in input ? input.text : input.ndjson;
  for await (const piece of untilAborted(textPieces(text), signal))
    yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

function textPieces(text: JobText): Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string> {
  if (typeof text === "string" || text instanceof Uint8Array) return [text];
  if (text instanceof Blob) return streamPieces(text.stream());
  return text instanceof ReadableStream ? streamPieces(text) : text;
}

/** Not every browser walks a stream by itself. Leaving the walk cancels the stream, also while it is waited for. */
function streamPieces(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    async return() {
      await reader.cancel().catch(() => undefined);
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Walks a source, and throws the reason of a signal that is aborted, also while the source is waited for. */
async function* untilAborted<Value>(
  source: Iterable<Value> | AsyncIterable<Value>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Value, void, undefined> {
  if (!isAsync(source)) {
    yield* source;
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      // A source that ends or fails closes by itself.
      isOver = true;
      const { done, value } = await nextOf(iterator, signal);
      if (done === true) return;
      isOver = false;
      yield value;
    }
  } finally {
    if (!isOver) await iterator.return?.();
  }
}

function isAsync<Value>(source: Iterable<Value> | AsyncIterable<Value>): source is AsyncIterable<Value> {
  return Symbol.asyncIterator in Object(source);
}

function nextOf<Value>(
  iterator: AsyncIterator<Value>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Value>> {
  const next = iterator.next();
  if (signal === undefined) return next;
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason);
      // A generator closes only behind what it waits for, which may never come. Another iterator may throw.
      (async () => iterator.return?.())().catch(() => undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
    next.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
