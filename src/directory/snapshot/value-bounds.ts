import { type Bitmap, bitmapLength, flipRows } from "./bitmap.ts";

/**
 * An index of the rows below a bound. For every `step`-th rank of the order by value it contains the set of all rows
 * before it, from which the set for any other bound differs by few rows.
 */
export type ValueBounds = {
  /** The value of each row; NaN for a listing without one. */
  readonly values: Float64Array;
  /** The number of rows with a value, which come first in the order. */
  readonly valued: number;
  /** The sets of the rows before rank 0, `step`, 2 × `step` … one after the other, then of all that have a value. */
  readonly sets: Int32Array;
  readonly step: number;
};

const STEPS = 32;

/** Builds the index; `order` contains the rows by ascending value, those without one last. */
export function buildValueBounds(values: Float64Array, order: Uint32Array): ValueBounds {
  let valued = 0;
  for (let row = 0; row < values.length; row++) if (!Number.isNaN(values[row])) valued += 1;
  const step = Math.max(1, Math.ceil(valued / STEPS));
  const length = bitmapLength(order.length);
  const sets = new Int32Array(length * (Math.ceil(valued / step) + 1));
  for (let number = 1, rank = 0; rank < valued; number++) {
    const set = sets.subarray(length * number, length * (number + 1));
    set.set(sets.subarray(length * (number - 1), length * number));
    const end = Math.min(rank + step, valued);
    flipRows(set, order.subarray(rank, end));
    rank = end;
  }
  return { values, valued, sets, step };
}

/** Returns the first rank whose value is not less than the bound, or where `isPast`, is greater. */
export function rankOf(bounds: ValueBounds, order: Uint32Array, bound: number, isPast: boolean): number {
  const { values } = bounds;
  let low = 0;
  let high = bounds.valued;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = values[order[middle] ?? 0] ?? 0;
    if (isPast ? value <= bound : value < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the set of the rows before a rank. The caller owns it. */
export function rowsBefore(bounds: ValueBounds, order: Uint32Array, rank: number): Bitmap {
  const { step, sets, valued } = bounds;
  const length = bitmapLength(order.length);
  const last = Math.ceil(valued / step);
  const number = Math.min(last, Math.round(rank / step));
  const set = sets.slice(length * number, length * (number + 1));
  const known = number === last ? valued : number * step;
  flipRows(set, order.subarray(Math.min(rank, known), Math.max(rank, known)));
  return set;
}
