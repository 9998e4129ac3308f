/** Of digits met before: Unicode has fewer than 800. */
const values = new Map<string, string>();

/** Returns the value of a digit of any script, 0 to 9. */
export function digitOf(digit: string): string {
  const known = values.get(digit);
  if (known !== undefined) return known;
  const value = valueInRow(digit);
  values.set(digit, value);
  return value;
}

/** Unicode lists the digits of each script in one row, zero first, with no other digits before it. */
function valueInRow(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
