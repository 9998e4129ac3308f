/** Less is left to the collector. */
const FREED_BYTES_MIN = 65_536;

/**
 * Gives memory back at once that nobody reads any more: megabytes that only the collector gives back stay until it has
 * walked over all objects there are. Of bytes that are a part of something else, nothing is.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < FREED_BYTES_MIN || byteLength < buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
