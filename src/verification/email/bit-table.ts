/** A table of bits by number, all of them clear; `size` is a power of two of 32 or more. */
export function bitTable(size: number): Uint32Array {
  return new Uint32Array(size / 32);
}

export function isBitSet(bits: Uint32Array, number: number): boolean {
  return (((bits[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
}

export function setBit(bits: Uint32Array, number: number): void {
  const at = number >>> 5;
  bits[at] = (bits[at] ?? 0) | (1 << (number & 31));
}
