import { isBitSet, setBit } from "../../platform/bits.ts";

/**
 * A quick no to most texts: whether the ASCII letters of text[start, end), whatever is between them passed over, begin
 * with those of one of the words. Of a long word only the first five letters count; behind the letters of a shorter one no
 * other letter may follow at once. Upper case is read as lower, and a character that is not ASCII makes a maybe of all that
 * could still be a word.
 */
export type WordFilter = (text: string, start: number, end: number) => boolean;

const LETTERS_MAX = 5;
/** A first look, before the set of beginnings: 8 KB, which stay in the cache of a core that does much else. */
const BITS = 65_536;

/** Creates a filter of words, whose ASCII letters count. */
export function createWordFilter(words: Iterable<string>): WordFilter {
  const bits = new Uint8Array(BITS / 8);
  const beginnings = new Set<number>();
  for (const word of words) {
    const beginning = beginningOf(word);
    setBit(bits, slotOf(beginning));
    beginnings.add(beginning);
  }
  return (text, start, end) => {
    let beginning = 0;
    let letters = 0;
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return true;
      const letter = letterOf(code);
      if (letter === 0) continue;
      beginning = withLetter(beginning, letter);
      letters++;
      const isWord = isBitSet(bits, slotOf(beginning)) && beginnings.has(beginning);
      if (letters === LETTERS_MAX) return isWord;
      if (isWord && (at + 1 === end || letterOf(text.charCodeAt(at + 1)) === 0)) return true;
    }
    return false;
  };
}

function beginningOf(word: string): number {
  let beginning = 0;
  let letters = 0;
  for (let at = 0; at < word.length && letters < LETTERS_MAX; at++) {
    const letter = letterOf(word.charCodeAt(at));
    if (letter === 0) continue;
    beginning = withLetter(beginning, letter);
    letters++;
  }
  return beginning;
}

/** Letters in a row as one number, another for each beginning. */
function withLetter(beginning: number, letter: number): number {
  return beginning * 27 + letter;
}

function slotOf(beginning: number): number {
  return beginning & (BITS - 1);
}

/** 1 to 26, or 0 for what is no ASCII letter. */
function letterOf(code: number): number {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a && code < 128 ? lower - 0x60 : 0;
}
