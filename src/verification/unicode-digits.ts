/** The memo of values by digit: Unicode has fewer than 800 digits. */
const values = new Map<string, string>();

/** Returns the value of a digit of any script, 0 to 9. */
export function digitOf(digit: string): string {
  const known = values.get(digit);
  if (known !== undefined) return known;
  const value = valueInScript(digit);
  values.set(digit, value);
  return value;
}

/** Counts back to the zero of the script: Unicode encodes its ten digits in order, with no digit right before them. */
function valueInScript(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
