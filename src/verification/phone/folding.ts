import { digitOf } from "../unicode-digits.ts";

const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * Brings full-width forms and the digits of other scripts to ASCII, takes out marks without width (bidi
 * controls, zero-width blanks, soft hyphens), makes tabs blanks, and dashes and the Japanese long mark hyphens. Numbers
 * that are no digits, as `²` or `①`, stay as they are.
 */
export function foldToAscii(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text
    .replace(/\p{Cf}/gu, "")
    .replace(/[^\p{No}]+/gu, (part) => part.normalize("NFKC"))
    .replace(/[^\P{Nd}0-9]/gu, digitOf)
    .replaceAll("\t", " ")
    .replace(/[\u2010-\u2015\u2212\u30fc]/g, "-");
}
