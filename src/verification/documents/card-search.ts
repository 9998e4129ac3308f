import { cardBrandOf } from "./card-brand.ts";
import { numberAt } from "./checksums/digits.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
import { foldDigits } from "./digit-folding.ts";

/** Shorter stretches of digits may well be what was asked for, mistyped. */
const DIGITS_MIN = 14;
const DIGITS_MAX = 19;

/** `whole`: all digits between two letters are a card number; `part`: some groups of them are. */
export type CardNumberFound = "whole" | "part" | null;

/** Longer texts are over the limit of every kind of item, and are only skimmed. */
const SEARCHED_UNITS_MAX = 320;

/**
 * Looks for numbers of cards of known brands in a text that was meant for something else. Of a text over the limits
 * `part` only says that there may be one. The work is linear in the text, which may be of any length.
 */
export function searchCardNumber(text: string): CardNumberFound {
  if (text.length > SEARCHED_UNITS_MAX) return mayShowCardNumber(text) ? "part" : null;
  const runs = digitRunsIn(text);
  if (runs.some(holdsCardStretch)) return "part";
  return runs.some(isCardRun) ? "whole" : null;
}

/** False where there are too few digits, or what may be folded to digits. Most refused values end here. */
export function mayHoldCardNumber(text: string): boolean {
  if (text.length < DIGITS_MIN) return false;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 0x30 && code <= 0x39) || code > 0x7f) count++;
  }
  return count >= DIGITS_MIN;
}

/**
 * Returns true wherever a search would find a number, and at times where it would not: it looks at how digits are
 * grouped, not at brands and check digits, and reads no digits but those of ASCII. Some ns for a character.
 */
function mayShowCardNumber(text: string): boolean {
  if (!mayHoldCardNumber(text)) return false;
  let runDigits = 0;
  let groupDigits = 0;
  // Those of groups that follow each other as on a card, from one of four digits on.
  let stretchDigits = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : LETTER_A;
    if (code > 0x7f) return true;
    if (code >= 0x30 && code <= 0x39) {
      groupDigits++;
      continue;
    }
    if (groupDigits > 0) {
      stretchDigits = groupDigits <= GROUP_MAX && stretchDigits > 0 ? stretchDigits + groupDigits : 0;
      if (stretchDigits === 0 && groupDigits === 4) stretchDigits = 4;
      if (isCardLength(groupDigits) || stretchDigits >= DIGITS_MIN) return true;
      runDigits += groupDigits;
      groupDigits = 0;
    }
    const letter = code | 0x20;
    if (letter < LETTER_A || letter > LETTER_Z) continue;
    if (isCardLength(runDigits)) return true;
    runDigits = 0;
    stretchDigits = 0;
  }
  return false;
}

const LETTER_A = 0x61;
const LETTER_Z = 0x7a;
/** Digits of the longest group but for a whole number, as American Express writes it. */
const GROUP_MAX = 6;

function isCardLength(digits: number): boolean {
  return digits >= DIGITS_MIN && digits <= DIGITS_MAX;
}

/** True where all digits between two letters, or all there are, are a card number. */
export function isWholeCardNumber(text: string): boolean {
  if (text.length > SEARCHED_UNITS_MAX) return mayShowCardNumber(text);
  return digitRunsIn(text).some(isCardRun);
}

/** The groups of digits between two letters, whatever else keeps them apart. */
type DigitRun = readonly string[];

function digitRunsIn(text: string): readonly DigitRun[] {
  if (!mayHoldCardNumber(text)) return [];
  return foldDigits(text)
    .split(/\p{L}/u)
    .flatMap((run) => {
      const groups = run.match(/[0-9]+/g);
      return groups === null ? [] : [groups];
    });
}

function isCardRun(run: DigitRun): boolean {
  return isCardNumber(run.join(""));
}

function holdsCardStretch(run: DigitRun): boolean {
  return run.some((_, start) => stretchesFrom(run, start).some(isCardNumber));
}

/**
 * What begins at a group and is shaped as card numbers are written, but for the run as a whole: one group, groups
 * of four with a shorter one behind them, or groups of four, six and four or five.
 */
function stretchesFrom(run: DigitRun, start: number): readonly string[] {
  const [first = "", second = "", third = ""] = run.slice(start, start + 3);
  if (first.length !== 4) return run.length > 1 ? [first] : [];
  if (second.length === 6)
    return run.length > 3 && (third.length === 4 || third.length === 5) ? [first + second + third] : [];
  const stretches: string[] = [];
  let digits = first;
  for (let end = start + 1; digits.length % 4 === 0 && digits.length < DIGITS_MAX; end++) {
    const group = run[end];
    if (group === undefined || group.length > 4) break;
    digits += group;
    if (end - start + 1 < run.length) stretches.push(digits);
  }
  return stretches;
}

/** Of a brand's other lengths some may have been issued, so any length is taken. */
function isCardNumber(digits: string): boolean {
  if (!isCardLength(digits.length)) return false;
  return luhnRemainder(digits) === 0 && cardBrandOf(numberAt(digits, 0, 8)) !== null;
}
