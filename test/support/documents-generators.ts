import fc from "fast-check";

/**
 * Valid numbers for fast-check, built from the rules as their authorities state them and not from the code
 * under test.
 */

/** As many random digits. */
export function digits(length: number): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(`^\\d{${length}}$`));
}

/** As many random digits and capitals. */
export function alphanumerics(length: number): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(`^[0-9A-Z]{${length}}$`));
}

/** The digits with their Luhn digit behind them. */
export function withLuhnDigit(payload: string): string {
  const sum = [...payload]
    .reverse()
    .map((digit, i) => (i % 2 === 0 ? Number(digit) * 2 : Number(digit)))
    .reduce((total, product) => total + (product > 9 ? product - 9 : product), 0);
  return `${payload}${(10 - (sum % 10)) % 10}`;
}

/** Twelve digits with their GS1 digit behind them. */
export function withGs1Digit(payload: string): string {
  const sum = [...payload].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return `${payload}${(10 - (sum % 10)) % 10}`;
}

/** Nine digits with the check character of ISBN-10 behind them. */
export function withIsbn10Digit(payload: string): string {
  const sum = [...payload].reduce((total, digit, i) => total + Number(digit) * (i + 1), 0) % 11;
  return `${payload}${sum === 10 ? "X" : sum}`;
}

/** The text with both check digits of CPF (weights that never wrap) or CNPJ (weights 2 to 9, again and again). */
export function withBrazilianDigits(payload: string, weightMax: number): string {
  let text = payload;
  for (let round = 0; round < 2; round++) {
    const sum = [...text]
      .reverse()
      .reduce((total, c, i) => total + (c.charCodeAt(0) - 48) * ((i % (weightMax - 1)) + 2), 0);
    text += sum % 11 < 2 ? "0" : String(11 - (sum % 11));
  }
  return text;
}

/** Country and BBAN with the check digits that ISO 13616 puts between them, by long integers. */
export function ibanOf(country: string, bban: string): string {
  const spelled = [...`${bban}${country}00`].map((c) => Number.parseInt(c, 36)).join("");
  return `${country}${String(98n - (BigInt(spelled) % 97n)).padStart(2, "0")}${bban}`;
}

/** A national number by a structure such as `8!n10!n`. */
export function bbanOf(structure: string): fc.Arbitrary<string> {
  const classes: Readonly<Record<string, string>> = { n: "[0-9]", a: "[A-Z]", c: "[0-9A-Z]" };
  const pattern = structure.replace(/(\d+)!([nac])/g, (_, count, kind) => `${classes[kind]}{${count}}`);
  return fc.stringMatching(new RegExp(`^${pattern}$`));
}

/** The text with another digit at one place that has a digit. */
export function changedDigit(text: string): fc.Arbitrary<string> {
  const places = [...text].flatMap((c, i) => (c >= "0" && c <= "9" ? [i] : []));
  return fc.tuple(fc.constantFrom(...places), fc.integer({ min: 1, max: 9 })).map(([place, shift]) => {
    const digit = (Number(text.charAt(place)) + shift) % 10;
    return `${text.slice(0, place)}${digit}${text.slice(place + 1)}`;
  });
}

/** The text with two different neighbours swapped, or unchanged where it has none. */
export function swapped(text: string, from = 0): fc.Arbitrary<string> {
  const places = [...text].flatMap((c, i) =>
    i >= from && i + 1 < text.length && c !== text.charAt(i + 1) ? [i] : [],
  );
  if (places.length === 0) return fc.constant(text);
  return fc
    .constantFrom(...places)
    .map((i) => `${text.slice(0, i)}${text.charAt(i + 1)}${text.charAt(i)}${text.slice(i + 2)}`);
}
