/** Returns whether a text is one repeated character, such as "1111"; false for the empty text. */
export function isOneCharacterRepeated(text: string): boolean {
  const first = text.charCodeAt(0);
  for (let i = 1; i < text.length; i++) {
    if (text.charCodeAt(i) !== first) return false;
  }
  return text.length > 0;
}

/** Returns whether text[start, end) has the digits 0 to 9 alone; true where it is empty. */
export function isDigits(text: string, start = 0, end = text.length): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (!(code >= 48 && code <= 57)) return false;
  }
  return true;
}

/** Returns the weighted sum of the digits from `start` on, one for each weight. */
export function weightedSum(digits: string, weights: readonly number[], start = 0): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    sum += (digits.charCodeAt(start + i) - 48) * (weights[i] ?? 0);
  }
  return sum;
}

/** Returns the digit at an index, as a number. */
export function digitAt(digits: string, index: number): number {
  return digits.charCodeAt(index) - 48;
}

/** Returns the number in digits[start, end), of at most 15 digits. */
export function numberAt(digits: string, start: number, end: number): number {
  let number = 0;
  for (let i = start; i < end; i++) number = number * 10 + digits.charCodeAt(i) - 48;
  return number;
}
