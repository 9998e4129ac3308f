import { cardBrandOf } from "./card-brand.ts";
import { numberAt } from "./checksums/digits.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
import { foldDigits } from "./digit-folding.ts";

/** Shorter stretches of digits may well be what was asked for, mistyped. */
const DIGITS_MIN = 14;
const DIGITS_MAX = 19;

/** `whole`: all digits between two letters are a card number; `part`: some groups of them are. */
export type CardNumberFound = "whole" | "part" | null;

/**
 * Looks for numbers of cards of known brands in a text that was meant for something else. The work is linear in
 * the text, which may be of any length.
 */
export function searchCardNumber(text: string): CardNumberFound {
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

/** True where all digits between two letters, or all there are, are a card number. */
export function isWholeCardNumber(text: string): boolean {
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
  if (digits.length < DIGITS_MIN || digits.length > DIGITS_MAX) return false;
  return luhnRemainder(digits) === 0 && cardBrandOf(numberAt(digits, 0, 8)) !== null;
}
