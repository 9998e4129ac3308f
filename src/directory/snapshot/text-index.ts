import { type Bitmap, bitmapLength, bitmapOf, emptyBitmap, intersect, unite } from "./bitmap.ts";
import type { Dictionary } from "./dictionary.ts";
import { createTextTable, findText, lowerBound, type TextTable, textAt } from "./text-table.ts";

/**
 * An inverted index. The rows of word `n` are `rows[starts[n]]` up to `rows[starts[n + 1]]`, or where a bitmap is
 * smaller, the one with the number `sets[n]` in `setBits`.
 */
export type TextIndex = {
  readonly words: TextTable;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
  readonly sets: Int32Array;
  readonly setBits: Int32Array;
};

const NO_SET = -1;
const PAST_ROWS = 0x8000_0000;

/** Builds the index by counting, in linear time but for the sorting of the words. */
export function buildTextIndex(rowWords: Uint32Array, dictionary: Dictionary): TextIndex {
  const counts = countWords(rowWords, dictionary);
  const used = counts
    .map((_, number) => number)
    .filter((number) => (counts[number] ?? 0) > 0)
    .sort((a, b) => (dictionary.wordOf(a) < dictionary.wordOf(b) ? -1 : 1));
  const length = bitmapLength(rowWords.length);
  const { starts, sets, setCount, next } = layOut(used, counts, length);
  const rows = new Uint32Array(starts[used.length] ?? 0);
  const setBits = new Int32Array(setCount * length);
  let row = 0;
  const add = (number: number): void => {
    const at = next[number] ?? 0;
    if (at >= PAST_ROWS) {
      const word = (at - PAST_ROWS) * length + (row >>> 5);
      setBits[word] = (setBits[word] ?? 0) | (1 << (row & 31));
      return;
    }
    rows[at] = row;
    next[number] = at + 1;
  };
  for (; row < rowWords.length; row++) dictionary.each(rowWords[row] ?? 0, add);
  return { words: createTextTable(Array.from(used, dictionary.wordOf)), starts, rows, sets, setBits };
}

/** Returns the number of rows that contain each word, by its number. */
function countWords(rowWords: Uint32Array, dictionary: Dictionary): Uint32Array {
  const counts = new Uint32Array(dictionary.wordCount());
  const count = (number: number): void => {
    counts[number] = (counts[number] ?? 0) + 1;
  };
  for (const place of rowWords) dictionary.each(place, count);
  return counts;
}

/** Assigns each word a run of rows, or a bitmap of `length` words where that is smaller. */
function layOut(used: Uint32Array, counts: Uint32Array, length: number) {
  const starts = new Uint32Array(used.length + 1);
  const sets = new Int32Array(used.length).fill(NO_SET);
  /** The position of the next row of each word; `PAST_ROWS` plus the number of its bitmap for a word with one. */
  const next = new Uint32Array(counts.length);
  let setCount = 0;
  for (let at = 0, start = 0; at < used.length; at++) {
    const number = used[at] ?? 0;
    const rows = counts[number] ?? 0;
    if (rows > length) {
      sets[at] = setCount;
      next[number] = PAST_ROWS + setCount;
      setCount += 1;
    } else {
      next[number] = start;
      start += rows;
    }
    starts[at + 1] = start;
  }
  return { starts, sets, setCount, next };
}

/** Returns the rows that contain all words, the last one as a prefix. The caller owns the set. */
export function searchTextIndex(index: TextIndex, words: readonly string[], rowCount: number): Bitmap {
  let found: Bitmap | null = null;
  for (const [at, word] of words.entries()) {
    const isLast = at === words.length - 1;
    const first = isLast ? lowerBound(index.words, word) : findText(index.words, word);
    if (first < 0) return emptyBitmap(rowCount);
    const end = isLast ? endOfPrefix(index.words, first, word) : first + 1;
    const rows = rowsOfWords(index, first, end, rowCount);
    if (found === null) found = rows;
    else intersect(found, rows);
  }
  // A query without a letter or a digit matches nothing.
  return found ?? emptyBitmap(rowCount);
}

/** Returns the rows that contain any of the words in [first, end). */
function rowsOfWords(index: TextIndex, first: number, end: number, rowCount: number): Bitmap {
  const { starts, sets, setBits } = index;
  const length = bitmapLength(rowCount);
  const found = bitmapOf(index.rows.subarray(starts[first] ?? 0, starts[end] ?? 0), rowCount);
  for (let at = first; at < end; at++) {
    const set = sets[at] ?? NO_SET;
    if (set !== NO_SET) unite(found, setBits.subarray(set * length, (set + 1) * length));
  }
  return found;
}

/** Returns the first position from `start` on whose text does not begin with the prefix. */
function endOfPrefix(words: TextTable, start: number, prefix: string): number {
  let low = start;
  let high = words.ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textAt(words, middle).startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}
