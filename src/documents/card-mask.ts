import { VALUE_CHARACTERS_MAX } from "./alphabet.ts";

/** From this many digits on a text may hold a card number. */
const CARD_DIGITS_MIN = 12;

/** `4242424242424242` → `424242******4242`; fewer than twelve digits are no card number and stay. */
export function maskDigits(digits: string): string {
  if (digits.length < CARD_DIGITS_MIN) return digits;
  return `${digits.slice(0, 6)}${"*".repeat(digits.length - 10)}${digits.slice(-4)}`;
}

/**
 * A text that may hold a card number in any writing, safe to show: of twelve digits or more none is left,
 * and what stands behind the first 64 characters is dropped.
 */
export function maskText(text: string): string {
  const isLong = text.length > VALUE_CHARACTERS_MAX;
  const shown = isLong ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
  const digits = shown.match(/\p{N}/gu);
  if (digits === null || (!isLong && digits.length < CARD_DIGITS_MIN)) return shown;
  return shown.replace(/\p{N}/gu, "*");
}
