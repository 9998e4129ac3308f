import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";

const CHUNK_BYTES = 512 * 1024;
const LINE_END = 0x0a;

/** Yields the bytes [start, end) of a file in chunks, each valid until the next one. */
export function* chunksOfFile(path: string, start: number, end: number): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = start; at < end; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - at), at);
      if (read === 0) throw new Error(`${basename(path)} ends before byte ${end}`);
      at += read;
      yield chunk.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Yields the lines in [start, end) of a file. `rest` is called with the number of bytes after the last line end,
 * unless it is 0.
 */
export function* linesOfFile(
  path: string,
  start: number,
  end: number,
  rest: (bytes: number) => void,
): Generator<string> {
  let partial: Buffer | null = null;
  for (const chunk of chunksOfFile(path, start, end)) {
    let lineStart = 0;
    for (let lineEnd = chunk.indexOf(LINE_END); lineEnd >= 0; lineEnd = chunk.indexOf(LINE_END, lineStart)) {
      const line = chunk.subarray(lineStart, lineEnd);
      yield (partial === null ? line : Buffer.concat([partial, line])).toString();
      partial = null;
      lineStart = lineEnd + 1;
    }
    const tail = chunk.subarray(lineStart);
    if (tail.length > 0) partial = Buffer.concat(partial === null ? [tail] : [partial, tail]);
  }
  if (partial !== null) rest(partial.length);
}
