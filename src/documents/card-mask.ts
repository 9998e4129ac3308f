import { alphabetOf, compactBy, DIGITS, VALUE_CHARACTERS_MAX } from "./alphabet.ts";

export const CARD_ALPHABET = alphabetOf(DIGITS, "-.");

/** From this many digits on a text may hold a card number. */
const CARD_DIGITS_MIN = 12;

/** `4242424242424242` → `424242******4242`; fewer than twelve digits are no card number and stay. */
export function maskDigits(digits: string): string {
  if (digits.length < CARD_DIGITS_MIN) return digits;
  return `${digits.slice(0, 6)}${"*".repeat(digits.length - 10)}${digits.slice(-4)}`;
}

/**
 * A text that may hold a card number in any writing, safe to show. Digits and separators alone are masked as a
 * card is; among other characters, twelve digits or more all become stars. What stands behind the first 64
 * characters is dropped unread, and with it all digits before it.
 */
export function maskCardNumber(text: string): string {
  const number = compactBy(CARD_ALPHABET, text);
  if (number !== null) return number.length < CARD_DIGITS_MIN ? text : maskDigits(number);
  const isLong = text.length > VALUE_CHARACTERS_MAX;
  const shown = isLong ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
  const digits = shown.match(/\p{N}/gu);
  if (digits === null || (!isLong && digits.length < CARD_DIGITS_MIN)) return shown;
  return shown.replace(/\p{N}/gu, "*");
}

/** The stretches of digits, each at most one separator apart, that a text has in it. */
export function digitRunsIn(text: string): readonly string[] {
  const runs = text.normalize("NFKC").match(/\d(?:[ .\u2013-]?\d)+/g) ?? [];
  return runs.map((run) => run.replace(/\D/g, ""));
}
