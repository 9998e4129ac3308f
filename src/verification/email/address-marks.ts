/** Classes of characters that normalisation and JSON depend on, as bits. */
export const UPPER_CASE = 1;
export const PLUS = 2;
export const DOT = 4;
export const HYPHEN = 8;
export const UNDERSCORE = 16;
export const NOT_ASCII = 32;
/** A character that JSON escapes. */
export const ESCAPED = 64;

const MARKS: { readonly [character: string]: number } = {
  "+": PLUS,
  ".": DOT,
  "-": HYPHEN,
  _: UNDERSCORE,
  '"': ESCAPED,
  "\\": ESCAPED,
};

const marksOfCode: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 0x41 && code <= 0x5a) return UPPER_CASE;
  if (code < 0x20) return ESCAPED;
  return MARKS[String.fromCharCode(code)] ?? 0;
});

/** Returns the classes of the characters of text[start, end), as bits. */
export function marksIn(text: string, start: number, end: number): number {
  let marks = 0;
  for (let at = start; at < end; at++) marks |= marksOf(text.charCodeAt(at));
  return marks;
}

/** Returns the class of a UTF-16 code unit, as a bit, or 0. */
export function marksOf(code: number): number {
  return marksOfCode[code] ?? NOT_ASCII;
}
