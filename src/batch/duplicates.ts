import { isBitSet, setBit } from "../platform/bits.ts";
import type { Items } from "./items.ts";

/** The items of a batch that duplicate an earlier one. */
export type Duplicates = {
  /**
   * Ascending positions of the duplicates in a range of items, counted from its start. To be called for range after
   * range, each from where the last ended.
   */
  readonly inRange: (start: number, end: number) => Uint32Array;
  /** Items of the ranges so far that are no duplicates. */
  readonly distinct: () => number;
};

/** Bits for each item: one item in this many shares its hash with another by accident. */
const BITS_PER_ITEM_MIN = 8;

/**
 * Finds the items that duplicate an earlier one: their text is the same to the letter (and their type, for a document).
 * Most items share their hash with no other, and so duplicate none; only the others are remembered as texts:
 * that takes a third of the time of remembering all. Linear, whatever the texts.
 */
export function findDuplicates({ count, source, start, end, identity }: Items): Duplicates {
  const size = 2 ** Math.ceil(Math.log2(count * BITS_PER_ITEM_MIN + 32));
  const hashes = new Uint32Array(count);
  const met = new Uint8Array(size / 8);
  const shared = new Uint8Array(size / 8);
  for (let at = 0; at < count; at++) {
    const hash = hashOf(source(at), start(at), end(at)) & (size - 1);
    hashes[at] = hash;
    setBit(isBitSet(met, hash) ? shared : met, hash);
  }

  const known = new Set<string>();
  let distinct = 0;
  const isDuplicate = (at: number): boolean => {
    if (!isBitSet(shared, hashes[at] ?? 0)) return false;
    const before = known.size;
    known.add(identity(at));
    return known.size === before;
  };

  return {
    inRange(start, end) {
      const duplicates: number[] = [];
      for (let at = start; at < end; at++) {
        if (isDuplicate(at)) duplicates.push(at - start);
        else distinct += 1;
      }
      // Sent to another thread and on to a third, where a list takes twenty times as long.
      return Uint32Array.from(duplicates);
    },
    distinct: () => distinct,
  };
}

/** Of longer texts only this many characters are hashed. */
const HASHED_MAX = 128;

/** Returns a number that is the same for the same text, of a text within another. */
function hashOf(source: string, start: number, end: number): number {
  const hashedEnd = Math.min(end, start + HASHED_MAX);
  let hash = end - start;
  for (let at = start; at < hashedEnd; at++) hash = (Math.imul(hash, 0x01000193) ^ source.charCodeAt(at)) | 0;
  return hash ^ (hash >>> 15);
}
