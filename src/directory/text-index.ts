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

/** Numbers for words, given out once, so that a row can keep its words as integers. */
export type Dictionary = {
  readonly numberOf: (word: string) => number;
  readonly wordOf: (number: number) => string;
  readonly size: () => number;
};

export function createDictionary(): Dictionary {
  const numbers = new Map<string, number>();
  const words: string[] = [];
  return {
    numberOf(word) {
      const known = numbers.get(word);
      if (known !== undefined) return known;
      numbers.set(word, words.length);
      words.push(word);
      return words.length - 1;
    },
    wordOf: (number) => words[number] ?? "",
    size: () => words.length,
  };
}

/** Inverts the rows' word numbers by counting; linear but for the sorting of the words. */
export function buildTextIndex(rowWords: readonly Uint32Array[], dictionary: Dictionary): TextIndex {
  const counts = new Uint32Array(dictionary.size());
  let total = 0;
  for (const words of rowWords) {
    total += words.length;
    for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  }
  const used: { readonly word: string; readonly number: number }[] = [];
  for (let number = 0; number < counts.length; number++) {
    if ((counts[number] ?? 0) > 0) used.push({ word: dictionary.wordOf(number), number });
  }
  used.sort((a, b) => (a.word < b.word ? -1 : 1));
  const starts = sharedIntegers(used.length + 1);
  const next = new Uint32Array(dictionary.size());
  for (let at = 0, start = 0; at < used.length; at++) {
    const number = used[at]?.number ?? 0;
    next[number] = start;
    start += counts[number] ?? 0;
    starts[at + 1] = start;
  }
  const rows = sharedIntegers(total);
  for (let row = 0; row < rowWords.length; row++) {
    for (const word of rowWords[row] ?? []) {
      const at = next[word] ?? 0;
      rows[at] = row;
      next[word] = at + 1;
    }
  }
  return { words: createTextTable(used.map((entry) => entry.word)), starts, rows };
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
