/**
 * A quick no to most texts: whether the ASCII letters of the text up to `end`, whatever stands between them passed
 * over, begin with those of one of the words. Of a long word only the first six letters count. Upper case is read
 * as lower, and a character that is not ASCII makes a maybe of all that could still be a word.
 */
export type WordFilter = (text: string, end: number) => boolean;

const LETTERS_MAX = 6;
const ROW = 27;

/** Each row of the table stands for letters read so far: first whether they are a word, then the row of each letter. */
export function createWordFilter(words: Iterable<string>): WordFilter {
  const building: number[] = new Array(ROW).fill(0);
  for (const word of words) addWord(building, word);
  const rows = Uint16Array.from(building);
  return (text, end) => {
    let row = 0;
    for (let at = 0; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return true;
      const letter = letterOf(code);
      if (letter === 0) continue;
      row = rows[row * ROW + letter] ?? 0;
      if (row === 0) return false;
      if (rows[row * ROW] === 1) return true;
    }
    return false;
  };
}

function addWord(rows: number[], word: string): void {
  let row = 0;
  let letters = 0;
  for (let at = 0; at < word.length && letters < LETTERS_MAX; at++) {
    const letter = letterOf(word.charCodeAt(at));
    if (letter === 0) continue;
    letters++;
    let next = rows[row * ROW + letter] ?? 0;
    if (next === 0) {
      next = rows.length / ROW;
      rows[row * ROW + letter] = next;
      for (let column = 0; column < ROW; column++) rows.push(0);
    }
    row = next;
  }
  rows[row * ROW] = 1;
}

/** 1 to 26, or 0 for what is no ASCII letter. */
function letterOf(code: number): number {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a && code < 128 ? lower - 0x60 : 0;
}
