/** Returns the check digit of the first twelve digits by GS1's weights 1 and 3 (General Specifications, 7.9). */
export function gs1CheckDigit(digits: string): number {
  let sum = 0;
  for (let i = 0; i < 12; i++) {
    const digit = digits.charCodeAt(i) - 48;
    sum += i % 2 === 0 ? digit : digit * 3;
  }
  return (10 - (sum % 10)) % 10;
}
