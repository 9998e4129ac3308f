import { bitTable, isBitSet, setBit } from "../email/bit-table.ts";
import type { Item } from "./items.ts";

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
 * Most items share their print with no other, and so repeat none; only the others are remembered by their text:
 * that takes a third of the time of remembering all. Linear, whatever the texts.
 */
export function findRepeats(items: readonly Item[]): Repeats {
  const size = 2 ** Math.ceil(Math.log2(items.length * BITS_PER_ITEM_MIN + 32));
  const prints = new Uint32Array(items.length);
  const met = bitTable(size);
  const shared = bitTable(size);
  for (let at = 0; at < items.length; at++) {
    const item = items[at] ?? "";
    const print = printOf(typeof item === "string" ? item : item[1]) & (size - 1);
    prints[at] = print;
    setBit(isBitSet(met, print) ? shared : met, print);
  }

  const texts = new Set<string>();
  let distinct = 0;
  const isRepeat = (at: number): boolean => {
    if (!isBitSet(shared, prints[at] ?? 0)) return false;
    const before = texts.size;
    texts.add(textOf(items[at] ?? ""));
    return texts.size === before;
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

function textOf(item: Item): string {
  return typeof item === "string" ? item : `${item[0] ?? ""}\n${item[1]}`;
}

/** Of longer texts only so many characters are looked at for their print. */
const PRINTED_MAX = 128;

/** A number that is the same for texts that are the same. */
function printOf(text: string): number {
  const end = Math.min(text.length, PRINTED_MAX);
  let print = text.length;
  for (let at = 0; at < end; at++) print = (Math.imul(print, 0x01000193) ^ text.charCodeAt(at)) | 0;
  return print ^ (print >>> 15);
}
