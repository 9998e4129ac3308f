import { maskCardNumber, starDigits } from "./card-mask.ts";
import { searchCardNumber } from "./card-search.ts";

/**
 * The text, masked where digits in it are the number of a card of a known brand. Beside other digits, such as its
 * date and code, all become stars.
 */
export function withoutCardNumber(text: string): string {
  const found = searchCardNumber(text);
  if (found === null) return text;
  return found === "whole" ? maskCardNumber(text) : starDigits(text);
}
