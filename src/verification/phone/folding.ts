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

/** Unicode lists the digits of each script in one row, zero first, with no other digits before it. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
