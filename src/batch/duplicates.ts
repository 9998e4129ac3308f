import { bitTable, isBitSet, setBit } from "../verification/email/bit-table.ts";
import type { Items } from "./items.ts";

/** The items of a batch that repeat an earlier one. */
export type Repeats = {
  /**
   * Ascending positions of the repeats in a run of items, counted from its start. To be asked for run after run, each
   * from where the last ended.
   */
  readonly inRun: (start: number, end: number) => number[];
  /** Items of the runs so far that are no repeats. */
  readonly distinct: () => number;
};

/** Bits for each item: one in so many shares its print with another by chance. */
const BITS_PER_ITEM_MIN = 8;

/**
 * Finds the items that repeat an earlier one: their text is the same to the letter (and their type, for a document).
 * Most items share their print with no other, and so repeat none; only the others are remembered by what they are:
 * that takes a third of the time of remembering all. Linear, whatever the texts.
 */
export function findRepeats({ count, holder, from, end, identity }: Items): Repeats {
  const size = 2 ** Math.ceil(Math.log2(count * BITS_PER_ITEM_MIN + 32));
  const prints = new Uint32Array(count);
  const met = bitTable(size);
  const shared = bitTable(size);
  for (let at = 0; at < count; at++) {
    const print = printOf(holder(at), from(at), end(at)) & (size - 1);
    prints[at] = print;
    setBit(isBitSet(met, print) ? shared : met, print);
  }

  const known = new Set<string>();
  let distinct = 0;
  const isRepeat = (at: number): boolean => {
    if (!isBitSet(shared, prints[at] ?? 0)) return false;
    const before = known.size;
    known.add(identity(at));
    return known.size === before;
  };

  return {
    inRun(start, end) {
      const repeats: number[] = [];
      for (let at = start; at < end; at++) {
        if (isRepeat(at)) repeats.push(at - start);
        else distinct += 1;
      }
      return repeats;
    },
    distinct: () => distinct,
  };
}

/** Of longer texts only so many characters are looked at for their print. */
const PRINTED_MAX = 128;

/** A number that is the same for texts that are the same, of one that stands in another. */
function printOf(holder: string, from: number, end: number): number {
  const printedEnd = Math.min(end, from + PRINTED_MAX);
  let print = end - from;
  for (let at = from; at < printedEnd; at++)
    print = (Math.imul(print, 0x01000193) ^ holder.charCodeAt(at)) | 0;
  return print ^ (print >>> 15);
}
