import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";

const CHUNK_BYTES = 512 * 1024;
const LINE_END = 0x0a;

/** The bytes of a file from one place to another in chunks; each is good until the next one. */
export function* chunksOfFile(path: string, from: number, end: number): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = from; at < end; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - at), at);
      if (read === 0) throw new Error(`${basename(path)} ends before byte ${end}`);
      at += read;
      yield chunk.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The lines of that part of a file. `rest` gets what stands behind the last line end, where anything does. */
export function* linesOfFile(
  path: string,
  from: number,
  end: number,
  rest: (bytes: number) => void,
): Generator<string> {
  let cut: Buffer | null = null;
  for (const chunk of chunksOfFile(path, from, end)) {
    let start = 0;
    for (let to = chunk.indexOf(LINE_END); to >= 0; to = chunk.indexOf(LINE_END, start)) {
      const line = chunk.subarray(start, to);
      yield (cut === null ? line : Buffer.concat([cut, line])).toString();
      cut = null;
      start = to + 1;
    }
    const tail = chunk.subarray(start);
    if (tail.length > 0) cut = Buffer.concat(cut === null ? [tail] : [cut, tail]);
  }
  if (cut !== null) rest(cut.length);
}
