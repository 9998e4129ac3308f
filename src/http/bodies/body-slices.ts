import { setImmediate as nextTurn } from "node:timers/promises";

/** Bytes copied, hashed and passed on in one turn of the main thread: some 2 ms, reception included. */
export const SLICE_BYTES = 262_144;

/** Yields bytes in views of at most 256 KiB. */
export function* slicesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.byteLength; start += SLICE_BYTES) {
    yield bytes.subarray(start, start + SLICE_BYTES);
  }
}

/**
 * Yields a body as it arrives, in slices of at most 256 KiB, and yields to other calls after each: the runtime delivers
 * several megabytes at a time. The next part is read once this one is consumed. `onTaken` is called with each part that
 * was consumed whole.
 */
export async function* bodySlices(
  body: AsyncIterable<Uint8Array>,
  onTaken?: (part: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of body) {
    for (const slice of slicesOf(part)) {
      yield slice;
      await nextTurn();
    }
    onTaken?.(part);
  }
}
