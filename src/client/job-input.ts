import type { JobInput, JobText } from "./job-types.ts";

/** Rows are written as text in pieces of about this many characters. */
const PIECE_CHARS = 65_536;

export function mediaTypeOf(input: JobInput): string {
  if ("csv" in input) return "text/csv";
  return "text" in input ? "text/plain" : "application/x-ndjson";
}

/** Returns the bytes of an input in parts of `partBytes`, the last one shorter; at least one, which may be empty. */
export async function* partsOf(
  input: JobInput,
  partBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let part = new Uint8Array(partBytes);
  let filled = 0;
  let isFirst = true;
  for await (const piece of piecesOf(input)) {
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

async function* piecesOf(input: JobInput): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  if ("rows" in input) {
    let text = "";
    for await (const row of input.rows) {
      text += `${JSON.stringify(row)}\n`;
      if (text.length < PIECE_CHARS) continue;
      yield encoder.encode(text);
      text = "";
    }
    yield encoder.encode(text);
    return;
  }
  const text = "csv" in input ? input.csv : "text" in input ? input.text : input.ndjson;
  for await (const piece of textPieces(text)) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

function textPieces(text: JobText): Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string> {
  if (typeof text === "string" || text instanceof Uint8Array) return [text];
  if (text instanceof Blob) return streamPieces(text.stream());
  return text instanceof ReadableStream ? streamPieces(text) : text;
}

/** Not every browser walks a stream by itself. */
async function* streamPieces(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
