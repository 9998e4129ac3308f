/** Returns the Luhn sum (ISO/IEC 7812, annex B) of digits[start, end) modulo 10: 0 for a valid check digit. */
export function luhnRemainder(digits: string, start = 0, end = digits.length): number {
  let sum = 0;
  for (let i = end - 1, doubled = false; i >= start; i--, doubled = !doubled) {
    const digit = digits.charCodeAt(i) - 48;
    if (!doubled) sum += digit;
    else sum += digit < 5 ? digit * 2 : digit * 2 - 9;
  }
  return sum % 10;
}
