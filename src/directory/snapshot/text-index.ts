import { addAll, type Bitmap, bitmapLength, bitmapOf, emptyBitmap, keepCommon } from "./bitmap.ts";
import type { Dictionary } from "./dictionary.ts";
import { createTextTable, findText, lowerBound, type TextTable, textAt } from "./text-table.ts";

/**
 * Which rows hold which word: the rows of word `n` are `rows[starts[n]]` up to `rows[starts[n + 1]]`, or where it
 * is in enough rows for a set of bits to be smaller, the set with the number `sets[n]` in `setBits`.
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

/** Inverts the rows' words by counting; linear but for the sorting of the words. */
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
  const enter = (number: number): void => {
    const at = next[number] ?? 0;
    if (at >= PAST_ROWS) {
      const word = (at - PAST_ROWS) * length + (row >>> 5);
      setBits[word] = (setBits[word] ?? 0) | (1 << (row & 31));
      return;
    }
    rows[at] = row;
    next[number] = at + 1;
  };
  for (; row < rowWords.length; row++) dictionary.each(rowWords[row] ?? 0, enter);
  return { words: createTextTable(Array.from(used, dictionary.wordOf)), starts, rows, sets, setBits };
}

/** In how many rows each word stands, by its number. */
function countWords(rowWords: Uint32Array, dictionary: Dictionary): Uint32Array {
  const counts = new Uint32Array(dictionary.wordCount());
  const count = (number: number): void => {
    counts[number] = (counts[number] ?? 0) + 1;
  };
  for (const place of rowWords) dictionary.each(place, count);
  return counts;
}

/** Gives each word its place: a run of rows, or a set of `length` numbers where that is smaller. */
function layOut(used: Uint32Array, counts: Uint32Array, length: number) {
  const starts = new Uint32Array(used.length + 1);
  const sets = new Int32Array(used.length).fill(NO_SET);
  /** Where the next row of a word goes; for a word with a set that is past all rows, by the number of its set. */
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

/** Returns the rows that hold all words, the last one as the beginning of a word; for the caller to keep. */
export function searchTextIndex(index: TextIndex, words: readonly string[], rowCount: number): Bitmap {
  let found: Bitmap | null = null;
  for (const [at, word] of words.entries()) {
    const isLast = at === words.length - 1;
    const first = isLast ? lowerBound(index.words, word) : findText(index.words, word);
    if (first < 0) return emptyBitmap(rowCount);
    const end = isLast ? endOfPrefix(index.words, first, word) : first + 1;
    const rows = rowsOfWords(index, first, end, rowCount);
    if (found === null) found = rows;
    else keepCommon(found, rows);
  }
  // Text without a letter or a digit finds nothing.
  return found ?? emptyBitmap(rowCount);
}

/** The rows that hold any of the words from `first` up to `end`. */
function rowsOfWords(index: TextIndex, first: number, end: number, rowCount: number): Bitmap {
  const { starts, sets, setBits } = index;
  const length = bitmapLength(rowCount);
  const found = bitmapOf(index.rows.subarray(starts[first] ?? 0, starts[end] ?? 0), rowCount);
  for (let at = first; at < end; at++) {
    const set = sets[at] ?? NO_SET;
    if (set !== NO_SET) addAll(found, setBits.subarray(set * length, (set + 1) * length));
  }
  return found;
}

/** The first position after `from` whose text does not begin with the prefix. */
function endOfPrefix(words: TextTable, from: number, prefix: string): number {
  let low = from;
  let high = words.ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textAt(words, middle).startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}
