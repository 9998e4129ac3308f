import { isBitSet, setBit } from "../../platform/bits.ts";

/**
 * A prefilter: returns whether the ASCII letters of text[start, end), with all between them skipped and in either case,
 * begin with those of one of the words. Of a long word only the first five letters count; a shorter one must not be
 * followed by another letter at once. Returns true at a character that is not ASCII, as a word may still follow.
 */
export type WordFilter = (text: string, start: number, end: number) => boolean;

const LETTERS_MAX = 5;
/** Bits of a Bloom filter before the set of prefixes: 8 KB, which stay in the CPU cache. */
const BITS = 65_536;

/** Creates a filter of words, by their ASCII letters. */
export function createWordFilter(words: Iterable<string>): WordFilter {
  const bits = new Uint8Array(BITS / 8);
  const prefixes = new Set<number>();
  for (const word of words) {
    const prefix = prefixOf(word);
    setBit(bits, slotOf(prefix));
    prefixes.add(prefix);
  }
  return (text, start, end) => {
    let prefix = 0;
    let letters = 0;
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return true;
      const letter = letterOf(code);
      if (letter === 0) continue;
      prefix = withLetter(prefix, letter);
      letters++;
      const isWord = isBitSet(bits, slotOf(prefix)) && prefixes.has(prefix);
      if (letters === LETTERS_MAX) return isWord;
      if (isWord && (at + 1 === end || letterOf(text.charCodeAt(at + 1)) === 0)) return true;
    }
    return false;
  };
}

function prefixOf(word: string): number {
  let prefix = 0;
  let letters = 0;
  for (let at = 0; at < word.length && letters < LETTERS_MAX; at++) {
    const letter = letterOf(word.charCodeAt(at));
    if (letter === 0) continue;
    prefix = withLetter(prefix, letter);
    letters++;
  }
  return prefix;
}

/** Appends a letter to a prefix, which is a number in base 27. */
function withLetter(prefix: number, letter: number): number {
  return prefix * 27 + letter;
}

function slotOf(prefix: number): number {
  return prefix & (BITS - 1);
}

/** Returns 1 to 26 for an ASCII letter, else 0. */
function letterOf(code: number): number {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a && code < 128 ? lower - 0x60 : 0;
}
