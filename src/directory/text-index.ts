import {
  createTextTable,
  findText,
  lowerBound,
  sharedIntegers,
  type TextTable,
  textAt,
} from "./shared-bytes.ts";

/** Which rows hold which word: the rows of word `n` are `rows[starts[n]]` up to `rows[starts[n + 1]]`. */
export type TextIndex = {
  readonly words: TextTable;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
};

/** Numbers for words, given out once, and the words of each row as a run of such numbers. */
export type Dictionary = {
  /** Keeps the words of a row and says where: at the place of its former ones, where they are the same. */
  readonly keep: (words: Iterable<string>, formerPlace?: number) => number;
  /** Takes the numbers that `keep` has put at this place, one by one. */
  readonly each: (place: number, take: (number: number) => void) => void;
  /** How many numbers those are. */
  readonly lengthOf: (place: number) => number;
  readonly wordOf: (number: number) => string;
  /** How many different words there are. */
  readonly wordCount: () => number;
  /** How much is kept in all, live or not. */
  readonly size: () => number;
};

export function createDictionary(): Dictionary {
  const numbers = new Map<string, number>();
  const words: string[] = [];
  let runs = new Uint32Array(1024);
  let used = 0;
  const numberOf = (word: string): number => {
    const known = numbers.get(word);
    if (known !== undefined) return known;
    numbers.set(word, words.length);
    words.push(word);
    return words.length - 1;
  };
  const put = (number: number): void => {
    if (used === runs.length) {
      const larger = new Uint32Array(runs.length * 2);
      larger.set(runs);
      runs = larger;
    }
    runs[used] = number;
    used += 1;
  };
  return {
    keep(texts, formerPlace) {
      const place = used;
      put(0);
      for (const text of texts) put(numberOf(text));
      runs[place] = used - place - 1;
      if (formerPlace === undefined || !isSameRun(runs, place, formerPlace)) return place;
      used = place;
      return formerPlace;
    },
    each(place, take) {
      const end = place + (runs[place] ?? 0);
      for (let at = place + 1; at <= end; at++) take(runs[at] ?? 0);
    },
    lengthOf: (place) => runs[place] ?? 0,
    wordOf: (number) => words[number] ?? "",
    wordCount: () => words.length,
    size: () => used,
  };
}

function isSameRun(runs: Uint32Array, a: number, b: number): boolean {
  const length = runs[a] ?? 0;
  for (let at = 0; at <= length; at++) if (runs[a + at] !== runs[b + at]) return false;
  return true;
}

/** Inverts the rows' words by counting; linear but for the sorting of the words. */
export function buildTextIndex(rowWords: Uint32Array, dictionary: Dictionary): TextIndex {
  const counts = new Uint32Array(dictionary.wordCount());
  let total = 0;
  const count = (number: number): void => {
    counts[number] = (counts[number] ?? 0) + 1;
    total += 1;
  };
  for (const place of rowWords) dictionary.each(place, count);
  const used = counts
    .map((_, number) => number)
    .filter((number) => (counts[number] ?? 0) > 0)
    .sort((a, b) => (dictionary.wordOf(a) < dictionary.wordOf(b) ? -1 : 1));
  const starts = sharedIntegers(used.length + 1);
  const next = new Uint32Array(counts.length);
  for (let at = 0, start = 0; at < used.length; at++) {
    const number = used[at] ?? 0;
    next[number] = start;
    start += counts[number] ?? 0;
    starts[at + 1] = start;
  }
  const rows = sharedIntegers(total);
  let row = 0;
  const enter = (number: number): void => {
    const at = next[number] ?? 0;
    rows[at] = row;
    next[number] = at + 1;
  };
  for (; row < rowWords.length; row++) dictionary.each(rowWords[row] ?? 0, enter);
  return { words: createTextTable(Array.from(used, dictionary.wordOf)), starts, rows };
}

/** Marks a row with the number of words when it holds them all, the last one as the beginning of a word. */
export function searchTextIndex(index: TextIndex, words: readonly string[], rowCount: number): Uint8Array {
  const marks = new Uint8Array(rowCount);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const isLast = at === words.length - 1;
    const first = isLast ? lowerBound(index.words, word) : findText(index.words, word);
    if (first < 0) return new Uint8Array(rowCount);
    const end = isLast ? endOfPrefix(index.words, first, word) : first + 1;
    for (let place = index.starts[first] ?? 0; place < (index.starts[end] ?? 0); place++) {
      const row = index.rows[place] ?? 0;
      if (marks[row] === at) marks[row] = at + 1;
    }
  }
  return marks;
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
