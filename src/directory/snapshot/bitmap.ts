/**
 * Sets of rows as one bit each: what a filter lets through. A hundred thousand rows are 3,000 words, so that
 * joining two sets costs microseconds even in code that runs for the first time.
 */
export type Bitmap = Int32Array<ArrayBufferLike>;

/** Returns how many words a set over this many rows takes. */
export function bitmapLength(rows: number): number {
  return (rows + 31) >>> 5;
}

export function emptyBitmap(rows: number): Bitmap {
  return new Int32Array(bitmapLength(rows));
}

/** Returns the set of these rows, of `count` in all. */
export function bitmapOf(rows: Uint32Array, count: number): Bitmap {
  const bitmap = emptyBitmap(count);
  addRows(bitmap, rows);
  return bitmap;
}

function addRows(bitmap: Bitmap, rows: Uint32Array): void {
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    bitmap[row >>> 5] = (bitmap[row >>> 5] ?? 0) | (1 << (row & 31));
  }
}

/** Takes out rows that are in the set, or adds those that are not. */
export function flipRows(bitmap: Bitmap, rows: Uint32Array): void {
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    bitmap[row >>> 5] = (bitmap[row >>> 5] ?? 0) ^ (1 << (row & 31));
  }
}

/** Keeps in the first set what is in the second one, too. */
export function keepCommon(bitmap: Bitmap, other: Bitmap): void {
  for (let at = 0; at < bitmap.length; at++) bitmap[at] = (bitmap[at] ?? 0) & (other[at] ?? 0);
}

/** Keeps in the first set what is not in the second one. */
export function keepOthers(bitmap: Bitmap, other: Bitmap): void {
  for (let at = 0; at < bitmap.length; at++) bitmap[at] = (bitmap[at] ?? 0) & ~(other[at] ?? 0);
}

/** Adds to the first set what is in the second one. */
export function addAll(bitmap: Bitmap, other: Bitmap): void {
  for (let at = 0; at < bitmap.length; at++) bitmap[at] = (bitmap[at] ?? 0) | (other[at] ?? 0);
}

/** Returns how many rows are in the set. */
export function countRows(bitmap: Bitmap): number {
  let count = 0;
  for (let at = 0; at < bitmap.length; at++) {
    let bits = bitmap[at] ?? 0;
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
