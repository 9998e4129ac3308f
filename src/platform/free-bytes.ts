/** Smaller buffers are left to the garbage collector. */
const FREED_BYTES_MIN = 65_536;

/**
 * Frees a buffer that is no longer read at once: otherwise its megabytes stay until a full collection. Does nothing for a
 * view into a larger buffer.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < FREED_BYTES_MIN || byteLength < buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
