/** A table of interned words: one number for each distinct word, and the words of each row as a run of numbers. */
export type Dictionary = {
  /** Stores the words of a row and returns their place: `formerPlace` where the words there are the same. */
  readonly keep: (words: Iterable<string>, formerPlace?: number) => number;
  /** Calls `take` with each number of the run at this place. */
  readonly each: (place: number, take: (number: number) => void) => void;
  /** The length of the run at this place. */
  readonly lengthOf: (place: number) => number;
  readonly wordOf: (number: number) => string;
  /** The number of distinct words. */
  readonly wordCount: () => number;
  /** The length of all runs, unused ones included. */
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
    // A copy: a substring would keep the whole text of the listing in memory.
    const own = Buffer.from(word).toString();
    numbers.set(own, words.length);
    words.push(own);
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
