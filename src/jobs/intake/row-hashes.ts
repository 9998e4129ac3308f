import { isBitSet, setBit } from "../../platform/bits.ts";

/**
 * Remembers a 64-bit hash of each row, 8 bytes a row, to separate the rows that may be duplicates from those that cannot
 * be. The hash is seeded at random; equal hashes prove nothing, so the rows that share one are compared by their text.
 * The search takes up to 14 bytes more a row: 2 to 4 of the filter, then half of them and a table.
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
/** Blocks that are looked at in one step of the filter. */
const STEP_BLOCKS = 16;
const NO_ROW = 0xffff_ffff;

type Search = {
  /** Of the filter: those that more than one row has. */
  readonly bits: Uint8Array;
  readonly mask: number;
  /** A row for each hash; the others that have it are marked in `shared`. */
  readonly table: Uint32Array;
  readonly shared: Uint8Array;
};

/** Rows are numbered from 0; at most 2^32 - 2 of them. */
export function createRowHashes(seeds: readonly [number, number]): RowHashes {
  const highs: Uint32Array[] = [];
  const lows: Uint32Array[] = [];
  let rows = 0;

  const highOf = (row: number): number => highs[row >>> 16]?.[row & 0xffff] ?? 0;
  const lowOf = (row: number): number => lows[row >>> 16]?.[row & 0xffff] ?? 0;

  const rowsOfBlock = (number: number): number => Math.min(ROWS_PER_BLOCK, rows - number * ROWS_PER_BLOCK);

  /** Sets the bits that more than one row has: a quick filter, since nearly every row has one of its own. */
  function* findSharedBits(mask: number): Generator<void, Uint8Array, undefined> {
    const met = new Uint8Array((mask + 1) / 8);
    const shared = new Uint8Array((mask + 1) / 8);
    for (const [number, block] of lows.entries()) {
      const end = rowsOfBlock(number);
      for (let at = 0; at < end; at++) {
        const bit = (block[at] ?? 0) & mask;
        setBit(isBitSet(met, bit) ? shared : met, bit);
      }
      if (number % STEP_BLOCKS === 0) yield;
    }
    return shared;
  }

  /** The slot of the row that has the hash of `row`, or else the free one for it. */
  function slotOf(table: Uint32Array, row: number): number {
    const mask = table.length - 1;
    const high = highOf(row);
    const low = lowOf(row);
    for (let slot = (high ^ low) & mask; ; slot = (slot + 1) & mask) {
      const met = table[slot] ?? NO_ROW;
      if (met === NO_ROW || (highOf(met) === high && lowOf(met) === low)) return slot;
    }
  }

  function* largerThan(table: Uint32Array): Generator<void, Uint32Array<ArrayBuffer>, undefined> {
    const larger = new Uint32Array(table.length * 2).fill(NO_ROW);
    for (let from = 0; from < table.length; from += ROWS_PER_BLOCK) {
      for (const row of table.subarray(from, from + ROWS_PER_BLOCK)) {
        if (row !== NO_ROW) larger[slotOf(larger, row)] = row;
      }
      yield;
    }
    return larger;
  }

  /** Puts the rows of a block whose bit is shared into the table, or marks them. Returns the slots that it took. */
  function placeBlock(number: number, { bits, mask, table, shared }: Search): number {
    const block = lows[number] ?? new Uint32Array(0);
    const end = rowsOfBlock(number);
    let taken = 0;
    for (let at = 0; at < end; at++) {
      if (!isBitSet(bits, (block[at] ?? 0) & mask)) continue;
      const row = number * ROWS_PER_BLOCK + at;
      const slot = slotOf(table, row);
      const met = table[slot] ?? NO_ROW;
      if (met === NO_ROW) {
        table[slot] = row;
        taken += 1;
      } else {
        setBit(shared, met);
        setBit(shared, row);
      }
    }
    return taken;
  }

  /** Sets the bit of each row that shares its hash, among those whose bit of the filter is shared. */
  function* findAmong(bits: Uint8Array, mask: number): Generator<void, Uint8Array, undefined> {
    const shared = new Uint8Array(Math.ceil(rows / 8));
    // Grows with the hashes that differ, for a million equal rows take one slot; at most half of the slots are taken.
    const slots = 2 ** Math.ceil(Math.log2((rows / BITS_PER_ROW + rowsOfBlock(0)) * 2 + 16));
    let table = new Uint32Array(slots).fill(NO_ROW);
    let taken = 0;
    for (let number = 0; number < lows.length; number++) {
      while ((taken + rowsOfBlock(number)) * 2 > table.length) table = yield* largerThan(table);
      taken += placeBlock(number, { bits, mask, table, shared });
      yield;
    }
    return shared;
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
      return yield* findAmong(yield* findSharedBits(mask), mask);
    },
  };
}
