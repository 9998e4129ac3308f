import { digitAt, isDigits, numberAt, weightedSum } from "../checksums/digits.ts";
import { luhnRemainder } from "../checksums/luhn.ts";
import { complementOf11, isDay, remainderBy11, type VatRule } from "./rule.ts";

const denmark: VatRule = {
  prefix: "DK",
  country: "DK",
  shape: "8 digits, the first not 0",
  lengths: [8],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  holds: (body) => weightedSum(body, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
};

const estonia: VatRule = {
  prefix: "EE",
  country: "EE",
  shape: "9 digits",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => weightedSum(body, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0,
};

const finland: VatRule = {
  prefix: "FI",
  country: "FI",
  shape: "8 digits",
  lengths: [8],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => weightedSum(body, [7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 0,
};

/** Checks with the second weights where the first give 10; the check digit is 0 where both do. */
function holdsLithuanian(body: string): boolean {
  const last = body.length - 1;
  const first = last === 8 ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2];
  const second = last === 8 ? [3, 4, 5, 6, 7, 8, 9, 1] : [3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4];
  const digit = weightedSum(body, first) % 11;
  const expected = digit === 10 ? remainderBy11(weightedSum(body, second), 0) : digit;
  return digitAt(body, last) === expected;
}

const lithuania: VatRule = {
  prefix: "LT",
  country: "LT",
  shape: "9 or 12 digits, the last but one 1",
  lengths: [9, 12],
  strength: "check_digit",
  fits: (body) => isDigits(body) && body.charAt(body.length - 2) === "1",
  holds: holdsLithuanian,
};

/** Checks legal entities, from 4 to 9 on, by a check digit, and persons by a date of birth, or 32 since 2017. */
function holdsLatvian(body: string): boolean {
  if (digitAt(body, 0) > 3) return weightedSum(body, [9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11 === 3;
  return body.startsWith("32") || isDay(numberAt(body, 4, 6), numberAt(body, 2, 4), numberAt(body, 0, 2));
}

const latvia: VatRule = {
  prefix: "LV",
  country: "LV",
  shape: "11 digits, a person's from a day of birth or 32 on",
  lengths: [11],
  strength: "check_digit",
  strengthOf: (body) => (digitAt(body, 0) > 3 ? undefined : "format"),
  fits: (body) => isDigits(body),
  holds: holdsLatvian,
};

const norway: VatRule = {
  prefix: "NO",
  country: "NO",
  shape: "9 digits, with or without MVA",
  lengths: [9, 12],
  strength: "check_digit",
  fits: (body) => isDigits(body, 0, 9) && (body.length === 9 || body.endsWith("MVA")),
  holds: (body) => complementOf11(weightedSum(body, [3, 2, 7, 6, 5, 4, 3, 2]), -1) === digitAt(body, 8),
  numberLength: 9,
  format: (body) =>
    `NO ${body.slice(0, 3)} ${body.slice(3, 6)} ${body.slice(6, 9)} ${body.slice(9)}`.trimEnd(),
};

const sweden: VatRule = {
  prefix: "SE",
  country: "SE",
  shape: "12 digits, the last two not 00",
  lengths: [12],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.endsWith("00"),
  holds: (body) => luhnRemainder(body, 0, 10) === 0,
};

const iceland: VatRule = {
  prefix: "IS",
  country: "IS",
  shape: "5 or 6 digits",
  lengths: [5, 6],
  strength: "format",
  fits: (body) => isDigits(body),
  holds: () => true,
};

export const northernRules: readonly VatRule[] = [
  denmark,
  estonia,
  finland,
  lithuania,
  latvia,
  norway,
  sweden,
  iceland,
];
