/** Kinds of characters that decide how an address is written in other ways, as bits. */
export const UPPER_CASE = 1;
export const PLUS = 2;
export const DOT = 4;
export const HYPHEN = 8;
export const UNDERSCORE = 16;
export const NOT_ASCII = 32;
/** Does not stand as it is in a JSON string. */
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

/** Which kinds there are among the characters of a text from a place to another. */
export function marksIn(text: string, from: number, to: number): number {
  let marks = 0;
  for (let at = from; at < to; at++) marks |= marksOf(text.charCodeAt(at));
  return marks;
}

export function marksOf(code: number): number {
  return marksOfCode[code] ?? NOT_ASCII;
}
