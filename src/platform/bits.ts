/** Sets the bit with this number; bits are numbered from the lowest of the first byte. */
export function setBit(bits: Uint8Array, number: number): void {
  const byte = number >>> 3;
  bits[byte] = (bits[byte] ?? 0) | (1 << (number & 7));
}

/** Returns whether the bit with this number is set; beyond the end none is. */
export function isBitSet(bits: Uint8Array, number: number): boolean {
  return ((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
}
