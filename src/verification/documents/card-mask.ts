import { alphabetOf, compactBy, DIGITS, VALUE_CHARACTERS_MAX } from "./alphabet.ts";

export const CARD_ALPHABET = alphabetOf(DIGITS, "-.");

/** From this many digits on a text may hold a card number. */
const CARD_DIGITS_MIN = 12;
/** From this many digits on the first six and the last four are not all of what is said to be a card number. */
export const MASKED_DIGITS_MIN = 11;

/** Stars by their number, for every value that is read. */
const STARS = Array.from({ length: VALUE_CHARACTERS_MAX + 1 }, (_, count) => "*".repeat(count));

/** `4242424242424242` → `424242******4242`; ten digits or fewer stay, as none is beside the first six and the last four. */
export function maskDigits(digits: string): string {
  if (digits.length < MASKED_DIGITS_MIN) return digits;
  return `${digits.slice(0, 6)}${starsOf(digits.length - 10)}${digits.slice(-4)}`;
}

/**
 * A text that may hold a card number in any writing, safe to show. Digits and separators alone are masked as a
 * card is; among other characters, or in a text too long to be read, `digitsMin` digits or more all become stars.
 */
export function maskCardNumber(text: string, digitsMin = CARD_DIGITS_MIN): string {
  const number = compactBy(CARD_ALPHABET, text);
  if (number !== null) return number.length < digitsMin ? text : maskDigits(number);
  return hasDigits(text, digitsMin) ? starDigits(text) : text;
}

function hasDigits(text: string, digitsMin: number): boolean {
  let count = 0;
  for (const [run] of text.matchAll(/\p{N}+/gu)) {
    count += run.length;
    if (count >= digitsMin) return true;
  }
  return false;
}

/** The text with a star for every digit, for where first and last ones may be no card number's. */
export function starDigits(text: string): string {
  return text.replace(/\p{N}+/gu, (run) => starsOf(run.length));
}

function starsOf(count: number): string {
  return STARS[count] ?? "*".repeat(count);
}
