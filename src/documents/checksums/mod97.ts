/** Above this the next letter could overflow the 32-bit integers that keep the loop fast. */
const REMAINDER_MAX = 20_000_000;

/**
 * Goes on with a remainder modulo 97 over a stretch of digits and upper-case letters, a letter counting as
 * two digits (A = 10 … Z = 35, ISO 7064 MOD 97-10).
 */
export function mod97(text: string, start = 0, end = text.length, carried = 0): number {
  let remainder = carried;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    remainder = code <= 57 ? remainder * 10 + code - 48 : remainder * 100 + code - 55;
    if (remainder > REMAINDER_MAX) remainder %= 97;
  }
  return remainder % 97;
}
