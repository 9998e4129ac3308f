import { isBitSet, setBit } from "../../platform/bits.ts";

/**
 * Remembers a 64-bit hash of each row, 8 bytes a row, to separate the rows that may be duplicates from those that cannot
 * be. The hash is seeded at random; equal hashes prove nothing, so the rows that share one are compared by their text.
 */
export type RowHashes = {
  /** Hashes bytes[start, end) as the next row. */
  readonly add: (bytes: Uint8Array, start: number, end: number) => void;
  readonly rows: () => number;
  /** Sets the bit of each row that shares its hash, a part of the rows at each step. */
  readonly findShared: () => Generator<void, Uint8Array, undefined>;
};

const ROWS_PER_BLOCK = 65_536;
/** Bits for each row: one row in this many shares its bit with another by accident. */
const BITS_PER_ROW = 8;
/** Rows that are looked at in one step. */
const STEP_BLOCKS = 16;
const NO_ROW = 0xffff_ffff;

/** Rows are numbered from 0; at most 2^32 - 2 of them. */
export function createRowHashes(seeds: readonly [number, number]): RowHashes {
  const highs: Uint32Array[] = [];
  const lows: Uint32Array[] = [];
  let rows = 0;

  const highOf = (row: number): number => highs[row >>> 16]?.[row & 0xffff] ?? 0;
  const lowOf = (row: number): number => lows[row >>> 16]?.[row & 0xffff] ?? 0;

  /** Sets the bits that more than one row has: a quick filter, since nearly every row has one of its own. */
  function* findSharedBits(mask: number): Generator<void, Uint8Array, undefined> {
    const met = new Uint8Array((mask + 1) / 8);
    const shared = new Uint8Array((mask + 1) / 8);
    for (const [number, block] of lows.entries()) {
      const end = Math.min(ROWS_PER_BLOCK, rows - number * ROWS_PER_BLOCK);
      for (let at = 0; at < end; at++) {
        const bit = (block[at] ?? 0) & mask;
        setBit(isBitSet(met, bit) ? shared : met, bit);
      }
      if (number % STEP_BLOCKS === 0) yield;
    }
    return shared;
  }

  function* candidatesIn(sharedBits: Uint8Array, mask: number): Generator<void, Uint32Array, undefined> {
    let candidates = new Uint32Array(1_024);
    let count = 0;
    for (const [number, block] of lows.entries()) {
      const end = Math.min(ROWS_PER_BLOCK, rows - number * ROWS_PER_BLOCK);
      for (let at = 0; at < end; at++) {
        if (!isBitSet(sharedBits, (block[at] ?? 0) & mask)) continue;
        if (count === candidates.length) {
          const larger = new Uint32Array(count * 2);
          larger.set(candidates);
          candidates = larger;
        }
        candidates[count++] = number * ROWS_PER_BLOCK + at;
      }
      if (number % STEP_BLOCKS === 0) yield;
    }
    return candidates.subarray(0, count);
  }

  return {
    add(bytes, start, end) {
      const at = rows & 0xffff;
      if (at === 0) {
        highs.push(new Uint32Array(ROWS_PER_BLOCK));
        lows.push(new Uint32Array(ROWS_PER_BLOCK));
      }
      let high = seeds[0] ^ (end - start);
      let low = seeds[1];
      for (let position = start; position < end; position++) {
        const byte = bytes[position] ?? 0;
        high = Math.imul(high ^ byte, 0x9e3779b1);
        high ^= high >>> 15;
        low = Math.imul(low + byte, 0x85ebca77);
        low ^= low >>> 13;
      }
      const block = rows >>> 16;
      (highs[block] as Uint32Array)[at] = high;
      (lows[block] as Uint32Array)[at] = low ^ (high >>> 7);
      rows += 1;
    },
    rows: () => rows,
    *findShared() {
      const mask = 2 ** Math.ceil(Math.log2(rows * BITS_PER_ROW + 64)) - 1;
      const candidates = yield* candidatesIn(yield* findSharedBits(mask), mask);
      const shared = new Uint8Array(Math.ceil(rows / 8));
      const slots = 2 ** Math.ceil(Math.log2(candidates.length * 2 + 16));
      const table = new Uint32Array(slots).fill(NO_ROW);
      for (const [index, row] of candidates.entries()) {
        for (let slot = (highOf(row) ^ lowOf(row)) & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
          const met = table[slot] ?? NO_ROW;
          if (met === NO_ROW) {
            table[slot] = row;
            break;
          }
          if (highOf(met) !== highOf(row) || lowOf(met) !== lowOf(row)) continue;
          setBit(shared, met);
          setBit(shared, row);
          break;
        }
        if (index % (STEP_BLOCKS * ROWS_PER_BLOCK) === 0) yield;
      }
      return shared;
    },
  };
}
