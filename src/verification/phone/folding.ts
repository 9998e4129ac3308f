import { digitOf } from "../unicode-digits.ts";

const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * Folds full-width forms and the digits of other scripts to ASCII, removes format characters (bidi controls, zero-width
 * spaces, soft hyphens), and replaces tabs by spaces, and dashes and the Japanese prolonged sound mark by hyphens.
 * Numeric characters that are not digits, such as `²` or `①`, are unchanged.
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
