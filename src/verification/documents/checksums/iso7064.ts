/** Returns the check digit of digits[start, end) by ISO 7064 MOD 11,10. */
export function mod11And10CheckDigit(digits: string, start: number, end: number): number {
  let product = 10;
  for (let i = start; i < end; i++) {
    const sum = (product + digits.charCodeAt(i) - 48) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - product) % 10;
}

/** Returns whether the last of digits[start, end) is their check digit by ISO 7064 MOD 11,10. */
export function holdsMod11And10(digits: string, start = 0, end = digits.length): boolean {
  return digits.charCodeAt(end - 1) - 48 === mod11And10CheckDigit(digits, start, end - 1);
}
