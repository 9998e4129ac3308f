/** True for "1111" and "AAA"; false for the empty text. */
export function isOneCharacterRepeated(text: string): boolean {
  const first = text.charCodeAt(0);
  for (let i = 1; i < text.length; i++) {
    if (text.charCodeAt(i) !== first) return false;
  }
  return text.length > 0;
}

/** True where the text from `start` to `end` is nothing but 0 to 9, and for an empty stretch. */
export function isDigits(text: string, start = 0, end = text.length): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (!(code >= 48 && code <= 57)) return false;
  }
  return true;
}

/** The sum of digit times weight from `start` on, as many digits as there are weights. */
export function weightedSum(digits: string, weights: readonly number[], start = 0): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    sum += (digits.charCodeAt(start + i) - 48) * (weights[i] ?? 0);
  }
  return sum;
}

/** The digit at an index, as a number. */
export function digitAt(digits: string, index: number): number {
  return digits.charCodeAt(index) - 48;
}

/** A whole number of at most 15 digits, read from a stretch of the text. */
export function numberAt(digits: string, start: number, end: number): number {
  let number = 0;
  for (let i = start; i < end; i++) number = number * 10 + digits.charCodeAt(i) - 48;
  return number;
}
