import { setImmediate as nextTurn } from "node:timers/promises";

/** So much of a body is copied, hashed and passed on in one turn of the main thread: with its reception some 2 ms. */
export const SLICE_BYTES = 262_144;

/**
 * Yields what arrives of a body in slices of at most 256 KiB and leaves a turn to other calls after each: the runtime
 * hands on several megabytes at a time. A part that is not taken keeps the next ones off. `onTaken` is called with each
 * part when all of it was taken.
 */
export async function* bodySlices(
  body: AsyncIterable<Uint8Array>,
  onTaken?: (part: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of body) {
    for (let start = 0; start < part.byteLength; start += SLICE_BYTES) {
      yield part.subarray(start, start + SLICE_BYTES);
      await nextTurn();
    }
    onTaken?.(part);
  }
}
