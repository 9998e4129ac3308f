import { cardBrandOf } from "./card-brand.ts";
import { numberAt } from "./checksums/digits.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
import { foldDigits } from "./digit-folding.ts";

/** Fewer digits may be a mistyped document of the requested type. */
const DIGITS_MIN = 14;
const DIGITS_MAX = 19;

/** `whole`: all digits between two letters are a card number; `part`: some groups of them are. */
export type CardNumberFound = "whole" | "part" | null;

/** In UTF-16 code units. Longer texts are over the limit of every kind of item, and get the quick search alone. */
const SEARCHED_UNITS_MAX = 320;

/**
 * Searches a text that was meant for something else for card numbers of known brands. For a text over the limit, `part`
 * means that there may be one. Takes linear time, at any length.
 */
export function searchCardNumber(text: string): CardNumberFound {
  if (text.length > SEARCHED_UNITS_MAX) return mayShowCardNumber(text) ? "part" : null;
  const runs = digitRunsIn(text);
  if (runs.some(hasCardNumber)) return "part";
  return runs.some(isCardRun) ? "whole" : null;
}

/** Returns false where there are too few digits, or characters that may fold to digits: for most refused values. */
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
 * Searches quickly, a few ns for a character. Returns true wherever a full search finds a number, and for some other
 * texts: it checks the groups of digits, not brands and check digits, and takes any character beyond ASCII for a hit.
 */
function mayShowCardNumber(text: string): boolean {
  if (!mayHoldCardNumber(text)) return false;
  let runDigits = 0;
  let groupDigits = 0;
  // Digits of consecutive groups as on a card, the first of which has four.
  let cardDigits = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : LETTER_A;
    if (code > 0x7f) return true;
    if (code >= 0x30 && code <= 0x39) {
      groupDigits++;
      continue;
    }
    if (groupDigits > 0) {
      cardDigits = groupDigits <= GROUP_MAX && cardDigits > 0 ? cardDigits + groupDigits : 0;
      if (cardDigits === 0 && groupDigits === 4) cardDigits = 4;
      if (isCardLength(groupDigits) || cardDigits >= DIGITS_MIN) return true;
      runDigits += groupDigits;
      groupDigits = 0;
    }
    const letter = code | 0x20;
    if (letter < LETTER_A || letter > LETTER_Z) continue;
    if (isCardLength(runDigits)) return true;
    runDigits = 0;
    cardDigits = 0;
  }
  return false;
}

const LETTER_A = 0x61;
const LETTER_Z = 0x7a;
/** Digits of the longest group within a number, that of American Express. */
const GROUP_MAX = 6;

function isCardLength(digits: number): boolean {
  return digits >= DIGITS_MIN && digits <= DIGITS_MAX;
}

/** Returns whether all digits between two letters, or all of the text, are a card number. */
export function isWholeCardNumber(text: string): boolean {
  if (text.length > SEARCHED_UNITS_MAX) return mayShowCardNumber(text);
  return digitRunsIn(text).some(isCardRun);
}

/** The groups of digits between two letters, whatever separates them. */
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

function hasCardNumber(run: DigitRun): boolean {
  return run.some((_, start) => candidatesFrom(run, start).some(isCardNumber));
}

/**
 * Returns what begins at a group and is grouped like a card number, except the whole run: one group, groups of four
 * with a shorter last one, or groups of four, six and four or five.
 */
function candidatesFrom(run: DigitRun, start: number): readonly string[] {
  const [first = "", second = "", third = ""] = run.slice(start, start + 3);
  if (first.length !== 4) return run.length > 1 ? [first] : [];
  if (second.length === 6)
    return run.length > 3 && (third.length === 4 || third.length === 5) ? [first + second + third] : [];
  const candidates: string[] = [];
  let digits = first;
  for (let end = start + 1; digits.length % 4 === 0 && digits.length < DIGITS_MAX; end++) {
    const group = run[end];
    if (group === undefined || group.length > 4) break;
    digits += group;
    if (end - start + 1 < run.length) candidates.push(digits);
  }
  return candidates;
}

/** Accepts any length for a brand, as it may have issued others than its usual ones. */
function isCardNumber(digits: string): boolean {
  if (!isCardLength(digits.length)) return false;
  return luhnRemainder(digits) === 0 && cardBrandOf(numberAt(digits, 0, 8)) !== null;
}
