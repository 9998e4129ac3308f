/** Sets a bit; bits are numbered from the lowest one of the first byte. */
export function setBit(bits: Uint8Array, number: number): void {
  const byte = number >>> 3;
  bits[byte] = (bits[byte] ?? 0) | (1 << (number & 7));
}

/** Returns whether a bit is set; false beyond the end. */
export function isBitSet(bits: Uint8Array, number: number): boolean {
  return ((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
}
