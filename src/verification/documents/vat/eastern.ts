import { digitAt, isDigits, numberAt, weightedSum } from "../checksums/digits.ts";
import { holdsMod11And10 } from "../checksums/iso7064.ts";
import { complementOf11, isDay, remainderBy11, type VatRule } from "./rule.ts";

/** Checks the nine digits of a legal entity: weights 1 to 8, and 3 to 10 where those give 10. */
function holdsBulgarianEntity(body: string): boolean {
  const digit = weightedSum(body, [1, 2, 3, 4, 5, 6, 7, 8]) % 11;
  const expected = digit === 10 ? remainderBy11(weightedSum(body, [3, 4, 5, 6, 7, 8, 9, 10]), 0) : digit;
  return digitAt(body, 8) === expected;
}

/** Checks a citizen's EGN: a date of birth, its month raised by 20 before 1900 and by 40 from 2000 on. */
function holdsBulgarianEgn(body: string): boolean {
  const month = numberAt(body, 2, 4);
  if (month > 52 || !isDay(numberAt(body, 0, 2), month % 20, numberAt(body, 4, 6))) return false;
  return remainderBy11(weightedSum(body, [2, 4, 8, 5, 10, 9, 7, 3, 6]), 0) === digitAt(body, 9);
}

function holdsBulgarian(body: string): boolean {
  if (body.length === 9) return holdsBulgarianEntity(body);
  return (
    holdsBulgarianEgn(body) ||
    weightedSum(body, [21, 19, 17, 13, 11, 9, 7, 3, 1]) % 10 === digitAt(body, 9) ||
    complementOf11(weightedSum(body, [4, 3, 2, 7, 6, 5, 4, 3, 2]), -1) === digitAt(body, 9)
  );
}

const bulgaria: VatRule = {
  prefix: "BG",
  country: "BG",
  shape: "9 or 10 digits",
  lengths: [9, 10],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: holdsBulgarian,
};

/** Checks a number that begins with 6: its check digit is 9 less an entity's complement, modulo 10. */
function holdsCzechSpecial(body: string): boolean {
  const complement = 11 - (weightedSum(body, [8, 7, 6, 5, 4, 3, 2], 1) % 11);
  return (19 - complement) % 10 === digitAt(body, 8);
}

/** The last year of birth in numbers of nine digits, 1953: in ten digits, years up to 53 are of this century. */
const CZECH_OLD_YEAR_MAX = 53;
/** The last year of birth, 1985, for which a remainder of 10 was written 0. */
const CZECH_ZERO_YEAR_MAX = 85;

/** Checks the date of birth. Months are raised by 50 for women, and since 2004 by 20 (Act 133/2000, 13). */
function isCzechBirthday(body: string): boolean {
  const year = numberAt(body, 0, 2);
  const month = numberAt(body, 2, 4) % 50;
  const mayBeRaised = body.length === 10 && year >= 4 && year <= CZECH_OLD_YEAR_MAX;
  return isDay(year, month > 20 && mayBeRaised ? month - 20 : month, numberAt(body, 4, 6));
}

/** Checks a multiple of 11, or the check digit 0 for a remainder of 10 and a birth of 1954 to 1985. */
function holdsCzechBirthNumber(body: string): boolean {
  if (!isCzechBirthday(body)) return false;
  const remainder = numberAt(body, 0, 9) % 11;
  if (remainder !== 10) return remainder === digitAt(body, 9);
  const year = numberAt(body, 0, 2);
  return digitAt(body, 9) === 0 && year > CZECH_OLD_YEAR_MAX && year <= CZECH_ZERO_YEAR_MAX;
}

/** Checks a birth number of nine digits, which is of 1953 at the latest and has no check digit. */
function isOldCzechBirthNumber(body: string): boolean {
  return numberAt(body, 0, 2) <= CZECH_OLD_YEAR_MAX && isCzechBirthday(body);
}

/** Checks the eight digits of an entity, or a person's birth number: nine digits until 1953 and then ten. */
function holdsCzech(body: string): boolean {
  if (body.length === 10) return holdsCzechBirthNumber(body);
  if (body.length === 9) return body.startsWith("6") ? holdsCzechSpecial(body) : isOldCzechBirthNumber(body);
  const complement = 11 - (weightedSum(body, [8, 7, 6, 5, 4, 3, 2]) % 11);
  return complement % 10 === digitAt(body, 7);
}

const czechia: VatRule = {
  prefix: "CZ",
  country: "CZ",
  shape: "8 digits, the first not 9, or a person's 9 or 10 from a day of birth on, or 9 from a 6 on",
  lengths: [8, 9, 10],
  strength: "check_digit",
  strengthOf: (body) => (body.length === 9 && !body.startsWith("6") ? "format" : undefined),
  fits: (body) => isDigits(body) && !(body.length === 8 && body.startsWith("9")),
  holds: holdsCzech,
};

const croatia: VatRule = {
  prefix: "HR",
  country: "HR",
  shape: "11 digits",
  lengths: [11],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: holdsMod11And10,
};

const hungary: VatRule = {
  prefix: "HU",
  country: "HU",
  shape: "8 digits",
  lengths: [8],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => weightedSum(body, [9, 7, 3, 1, 9, 7, 3, 1]) % 10 === 0,
};

const poland: VatRule = {
  prefix: "PL",
  country: "PL",
  shape: "10 digits",
  lengths: [10],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => remainderBy11(weightedSum(body, [6, 5, 7, 2, 3, 4, 5, 6, 7]), -1) === digitAt(body, 9),
};

/** Checks with weights that are aligned to the check digit, however few digits there are. */
function holdsRomanian(body: string): boolean {
  const last = body.length - 1;
  const sum = weightedSum(body, [7, 5, 3, 2, 1, 7, 5, 3, 2].slice(9 - last));
  return remainderBy11(sum * 10, 0) === digitAt(body, last);
}

const romania: VatRule = {
  prefix: "RO",
  country: "RO",
  shape: "2 to 10 digits, the first not 0",
  lengths: [2, 3, 4, 5, 6, 7, 8, 9, 10],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  holds: holdsRomanian,
};

/** Checks 11 less the remainder; 10 is written 0, and 11 is not issued. */
function holdsSlovenian(body: string): boolean {
  const sum = weightedSum(body, [8, 7, 6, 5, 4, 3, 2]);
  return sum % 11 !== 0 && complementOf11(sum, 0) === digitAt(body, 7);
}

const slovenia: VatRule = {
  prefix: "SI",
  country: "SI",
  shape: "8 digits, the first not 0",
  lengths: [8],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  holds: holdsSlovenian,
};

const slovakia: VatRule = {
  prefix: "SK",
  country: "SK",
  shape: "10 digits, the first not 0 and the third 2, 3, 4 or 6 to 9",
  lengths: [10],
  strength: "check_digit",
  fits: (body) => /^[1-9]\d[2-46-9]\d{7}$/.test(body),
  holds: (body) => numberAt(body, 0, 10) % 11 === 0,
};

export const easternRules: readonly VatRule[] = [
  bulgaria,
  czechia,
  croatia,
  hungary,
  poland,
  romania,
  slovenia,
  slovakia,
];
