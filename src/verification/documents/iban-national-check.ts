import { digitAt, numberAt, weightedSum } from "./checksums/digits.ts";
import { holdsMod11And10 } from "./checksums/iso7064.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
import { mod97 } from "./checksums/mod97.ts";

/** The index of the BBAN. All indexes are those of the whole IBAN. */
const START = 4;

const SPANISH_BANK = [4, 8, 5, 10, 9, 7, 3, 6];
const SPANISH_ACCOUNT = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];
const NORWEGIAN = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];
const NORWEGIAN_SHORT = [5, 4, 3, 2, 1];
const ESTONIAN = [7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1];
const POLISH_BANK = [3, 9, 7, 1, 3, 9, 7, 1];
const CZECH_PREFIX = [10, 5, 8, 4, 2, 1];
const CZECH_ACCOUNT = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
const HUNGARIAN = [9, 7, 3, 1, 9, 7, 3, 1];

/**
 * The checks of the national check digits of a well-formed IBAN, by country: those whose rule is public and which no
 * real account is known to fail. German banks use some 150 methods, old Dutch Postbank numbers have no check digits,
 * and British sort codes need tables.
 */
export const nationalRules: ReadonlyMap<string, (iban: string) => boolean> = new Map([
  ["BE", holdsBelgian],
  ["ES", holdsSpanish],
  ["NO", holdsNorwegian],
  ["FR", holdsRibKey],
  ["MC", holdsRibKey],
  ["IT", holdsCin],
  ["SM", holdsCin],
  ["PT", holdsMod97],
  ["SI", holdsMod97],
  ["ME", holdsMod97],
  ["RS", holdsMod97],
  ["BA", holdsMod97],
  ["MK", holdsMod97],
  ["TL", holdsMod97],
  ["EE", holdsEstonian],
  ["CZ", holdsCzechoslovak],
  ["SK", holdsCzechoslovak],
  ["FI", (iban) => luhnRemainder(iban, START) === 0],
  ["PL", (iban) => weightedSum(iban, POLISH_BANK, START) % 10 === 0],
  ["MR", holdsRibKey],
  ["TN", holdsRibKey],
  ["HR", (iban) => holdsMod11And10(iban, START, START + 7) && holdsMod11And10(iban, START + 7)],
  ["HU", holdsHungarian],
]);

/** Checks ISO 7064 MOD 97-10 over the BBAN, whose last two digits, the key, are 98 less a remainder. */
function holdsMod97(iban: string): boolean {
  return isKeyWithin(iban, 2, 98) && mod97(iban, START) === 1;
}

/** Returns whether the key is within its range: of the keys that are congruent modulo 97 only one is ever computed. */
function isKeyWithin(iban: string, min: number, max: number): boolean {
  const key = numberAt(iban, iban.length - 2, iban.length);
  return min <= key && key <= max;
}

/** Checks that the last two digits are the ten before them modulo 97, with 97 for 0. */
function holdsBelgian(iban: string): boolean {
  const remainder = numberAt(iban, START, 14) % 97;
  return numberAt(iban, 14, 16) === (remainder === 0 ? 97 : remainder);
}

/** Checks one digit of bank and branch and one of the account, each modulo 11 with 1 for 10. */
function holdsSpanish(iban: string): boolean {
  const bank = weightedSum(iban, SPANISH_BANK, START);
  const account = weightedSum(iban, SPANISH_ACCOUNT, 14);
  return digitAt(iban, 12) === spanishDigit(bank) && digitAt(iban, 13) === spanishDigit(account);
}

function spanishDigit(sum: number): number {
  const digit = 11 - (sum % 11);
  return digit === 11 ? 0 : digit === 10 ? 1 : digit;
}

/** Checks modulo 11: the whole number, or with 00 behind the bank code the digits behind that. */
function holdsNorwegian(iban: string): boolean {
  if (weightedSum(iban, NORWEGIAN, START) % 11 === 0) return true;
  return iban.startsWith("00", 8) && weightedSum(iban, NORWEGIAN_SHORT, 10) % 11 === 0;
}

/** The value of each letter of a French account: A to I are 1 to 9, J to R again, S to Z are 2 to 9. */
const RIB_LETTERS = "12345678912345678923456789";

/** Checks that bank, branch, account and key, which is 97 less a remainder, are a multiple of 97. */
function holdsRibKey(iban: string): boolean {
  if (!isKeyWithin(iban, 1, 97)) return false;
  let remainder = 0;
  for (let i = START; i < iban.length; i++) {
    const code = iban.charCodeAt(i);
    const digit = code <= 57 ? code - 48 : RIB_LETTERS.charCodeAt(code - 65) - 48;
    remainder = (remainder * 10 + digit) % 97;
  }
  return remainder === 0;
}

/** The value of a character at an odd position of an Italian account, by digit or by index of the letter. */
const CIN_ODD = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

/** Checks that the first letter is the sum of the 22 characters behind it modulo 26. */
function holdsCin(iban: string): boolean {
  let sum = 0;
  for (let i = START + 1; i < iban.length; i++) {
    const code = iban.charCodeAt(i);
    const value = code <= 57 ? code - 48 : code - 65;
    sum += (i - START) % 2 === 1 ? (CIN_ODD[value] ?? 0) : value;
  }
  return iban.charCodeAt(START) - 65 === sum % 26;
}

/** Checks the last digit, by weights 7, 3, 1 from the right over the digits behind the bank code. */
function holdsEstonian(iban: string): boolean {
  return weightedSum(iban, ESTONIAN, 6) % 10 === 0;
}

/** Checks that the weighted sums of account prefix and account number are both 0 modulo 11. */
function holdsCzechoslovak(iban: string): boolean {
  return weightedSum(iban, CZECH_PREFIX, 8) % 11 === 0 && weightedSum(iban, CZECH_ACCOUNT, 14) % 11 === 0;
}

/** Checks the digit of bank and branch and that of the account, by weights 9, 7, 3, 1. */
function holdsHungarian(iban: string): boolean {
  return (
    weightedSum(iban, HUNGARIAN, START) % 10 === 0 &&
    (weightedSum(iban, HUNGARIAN, 12) + weightedSum(iban, HUNGARIAN, 20)) % 10 === 0
  );
}
