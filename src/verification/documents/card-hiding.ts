import { maskCardNumber, starDigits } from "./card-mask.ts";
import { searchCardNumber } from "./card-search.ts";

/**
 * Masks a text that contains a card number of a known brand. Where there are other digits beside it, such as expiry
 * date and code, all digits become stars.
 */
export function withoutCardNumber(text: string): string {
  const found = searchCardNumber(text);
  if (found === null) return text;
  return found === "whole" ? maskCardNumber(text) : starDigits(text);
}
