import type { ChunkResults } from "../../store/job-records.ts";
import { ROW_FIELD_CHARS } from "./result-rendering.ts";

/** The bytes of each finished chunk of a download, in order. */
export type ChunkBytes = AsyncIterable<number>;

/** Returns the bytes of a chunk's lines as NDJSON, or as JSON objects each with a comma. */
export function bytesOf({ lineBytes, rowsDone, firstRow }: ChunkResults): number {
  return lineBytes + rowsDone * ROW_FIELD_CHARS + digitsUpTo(firstRow + rowsDone) - digitsUpTo(firstRow);
}

/** Counts the chunks that end at or before a byte of the rows, and their bytes. */
export async function chunksBefore(
  chunks: ChunkBytes,
  fromByte: number,
): Promise<{ readonly chunks: number; readonly bytes: number }> {
  let passed = 0;
  let bytes = 0;
  for await (const chunk of chunks) {
    const next = bytes + chunk;
    if (next > fromByte) break;
    bytes = next;
    passed += 1;
  }
  return { chunks: passed, bytes };
}

/** Returns the number of digits of all numbers from 1 to `last` together. */
function digitsUpTo(last: number): number {
  let digits = 0;
  for (let first = 1; first <= last; first *= 10) digits += last - first + 1;
  return digits;
}
