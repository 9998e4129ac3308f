/**
 * Returns the value of a digit of any script, 0 to 9: Unicode lists the digits of each script in one row, zero first, with
 * no other digits before it.
 */
export function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
