import type { DocumentType } from "../../contract/words.ts";

/** Formats that only one type has. Each is tried on at most 64 characters and cannot backtrack far. */
const MASKS: readonly (readonly [DocumentType, RegExp])[] = [
  ["cpf", /^\d{3}\.\d{3}\.\d{3}[-/]\d{2}$/],
  ["cnpj", /^[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}$/i],
  ["ein", /^\d{2}-\d{7}$/],
  ["card", /^(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})$/],
  ["isbn", /^(?=(?:[ -]?\d){13}$)\d{3}([ -])\d{1,5}\1\d{1,7}\1\d{1,6}\1\d$/],
  ["isbn", /^\d{1,5}([ -])\d{1,7}\1\d{1,6}\1[\dX]$/i],
  // As printed under the bars, of books too.
  ["ean13", /^(?!9.7[89])\d([ -])\d{6}\1\d{6}$/],
];

/** Returns the type whose customary format a text has, or null. An ISBN must have its whole length, too. */
export function maskedTypeOf(text: string, compactLength: number): DocumentType | null {
  for (const [type, mask] of MASKS) {
    if (!mask.test(text)) continue;
    if (type !== "isbn" || compactLength === 10 || compactLength === 13) return type;
  }
  return null;
}
