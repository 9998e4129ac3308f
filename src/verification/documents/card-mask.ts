import { alphabetOf, compactBy, DIGITS, VALUE_CHARACTERS_MAX } from "./alphabet.ts";

export const CARD_ALPHABET = alphabetOf(DIGITS, "-.");

/** A text of fewer digits contains no card number. */
const CARD_DIGITS_MIN = 12;
/** A shorter number has no digits beside the first six and the last four. */
export const MASKED_DIGITS_MIN = 11;

/** Stars by count, up to the longest value that is read. */
const STARS = Array.from({ length: VALUE_CHARACTERS_MAX + 1 }, (_, count) => "*".repeat(count));

/** Masks `4242424242424242` as `424242******4242`; ten digits or fewer are unchanged. */
export function maskDigits(digits: string): string {
  if (digits.length < MASKED_DIGITS_MIN) return digits;
  return `${digits.slice(0, 6)}${starsOf(digits.length - 10)}${digits.slice(-4)}`;
}

/**
 * Masks a text that may contain a card number in any form. Digits and separators alone are masked like a card number;
 * among other characters, or in a text that is too long to be read, `digitsMin` digits or more all become stars.
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

/** Replaces every digit by a star, where the first and last ones may not be those of a card number. */
export function starDigits(text: string): string {
  return text.replace(/\p{N}+/gu, (run) => starsOf(run.length));
}

function starsOf(count: number): string {
  return STARS[count] ?? "*".repeat(count);
}
