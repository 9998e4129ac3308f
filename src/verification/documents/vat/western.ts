import { digitAt, isDigits, numberAt, weightedSum } from "../checksums/digits.ts";
import { holdsMod11And10 } from "../checksums/iso7064.ts";
import { luhnRemainder } from "../checksums/luhn.ts";
import { mod97 } from "../checksums/mod97.ts";
import { complementOf11, remainderBy11, type VatRule } from "./rule.ts";

const austria: VatRule = {
  prefix: "AT",
  country: "AT",
  shape: "U and 8 digits",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => body.startsWith("U") && isDigits(body, 1),
  // The Luhn sum of the seven digits, 4 and the check digit add up to a multiple of 10.
  holds: (body) => (luhnRemainder(body, 1, 8) + digitAt(body, 8)) % 10 === 6,
};

const belgium: VatRule = {
  prefix: "BE",
  country: "BE",
  shape: "10 digits, the first 0 or 1",
  lengths: [10, 9],
  strength: "two_check_digits",
  fits: (body) => isDigits(body) && digitAt(body, 0) <= 1,
  holds: (body) => 97 - (numberAt(body, 0, 8) % 97) === numberAt(body, 8, 10),
  modernize: (body) => (body.length === 9 ? `0${body}` : body),
  format: (body) => `BE ${body.slice(0, 4)}.${body.slice(4, 7)}.${body.slice(7)}`,
};

const germany: VatRule = {
  prefix: "DE",
  country: "DE",
  shape: "9 digits, the first not 0",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  holds: holdsMod11And10,
};

/** French keys have no I and no O. */
const FRENCH_KEY = /^[0-9A-HJ-NP-Z]{2}$/;
const FRENCH_KEY_CHARACTERS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Checks a key of digits, which is 12 plus three times the SIREN modulo 97, or one with a letter, modulo 11. */
function holdsFrenchKey(body: string): boolean {
  const siren = numberAt(body, 2, 11);
  if (isDigits(body, 0, 2)) return (siren * 100 + 12) % 97 === numberAt(body, 0, 2);
  const first = FRENCH_KEY_CHARACTERS.indexOf(body.charAt(0));
  const second = FRENCH_KEY_CHARACTERS.indexOf(body.charAt(1));
  const key = first < 10 ? first * 24 + second - 10 : first * 34 + second - 100;
  return (siren + 1 + Math.floor(key / 11)) % 11 === key % 11;
}

const france: VatRule = {
  prefix: "FR",
  country: "FR",
  shape: "2 characters and 9 digits",
  lengths: [11],
  strength: "two_check_digits",
  fits: (body) => isDigits(body, 2) && FRENCH_KEY.test(body.slice(0, 2)),
  // Numbers of Monaco have 000 in place of a SIREN, and no Luhn digit.
  holds: (body) => holdsFrenchKey(body) && (body.startsWith("000", 2) || luhnRemainder(body, 2) === 0),
  format: (body) => `FR ${body.slice(0, 2)} ${body.slice(2)}`,
};

const luxembourg: VatRule = {
  prefix: "LU",
  country: "LU",
  shape: "8 digits",
  lengths: [8],
  strength: "two_check_digits",
  fits: (body) => isDigits(body),
  holds: (body) => numberAt(body, 0, 6) % 89 === numberAt(body, 6, 8),
};

/** Checks nine digits by the eleven-test, or a sole trader's whole number (since 2020) by MOD 97-10, "NL" included. */
function holdsDutch(body: string): boolean {
  if (remainderBy11(weightedSum(body, [9, 8, 7, 6, 5, 4, 3, 2]), -1) === digitAt(body, 8)) return true;
  // The last two digits of a sole trader's number are check digits, which are computed as 02 to 98.
  const given = numberAt(body, 10, 12);
  return given >= 2 && given <= 98 && mod97(body, 0, body.length, mod97("NL")) === 1;
}

const netherlands: VatRule = {
  prefix: "NL",
  country: "NL",
  shape: "9 digits, B and 2 digits",
  lengths: [12],
  strength: "check_digit",
  fits: (body) => isDigits(body, 0, 9) && body.charAt(9) === "B" && isDigits(body, 10),
  holds: holdsDutch,
  isIssued: (body) => !body.endsWith("00"),
};

const IRISH_CHECK = "WABCDEFGHIJKLMNOPQRSTUV";

/** Returns the check letter. A second letter counts nine times its position in the alphabet, W as 0. */
function irishLetter(digits: string, second: string): string {
  const extra = second === "" || second === "W" ? 0 : second.charCodeAt(0) - 64;
  return IRISH_CHECK.charAt((weightedSum(digits, [8, 7, 6, 5, 4, 3, 2]) + extra * 9) % 23);
}

function holdsIrish(body: string): boolean {
  if (isDigits(body, 0, 7)) return irishLetter(body.slice(0, 7), body.slice(8)) === body.charAt(7);
  // The form before 2013 has a letter, + or * as second character, and its first digit is weighted last.
  return irishLetter(`0${body.slice(2, 7)}${body.charAt(0)}`, "") === body.charAt(7);
}

const ireland: VatRule = {
  prefix: "IE",
  country: "IE",
  shape: "7 digits and 1 or 2 letters",
  lengths: [8, 9],
  strength: "check_digit",
  fits: (body) => /^(?:\d{7}[A-W][A-IW]?|\d[A-Z+*]\d{5}[A-W])$/.test(body),
  holds: holdsIrish,
};

/** Checks 97 less the weighted sum; the newer series, from 100 0000 on, subtracts 55. */
function holdsBritish(body: string): boolean {
  const check = numberAt(body, 7, 9);
  // 98 and 99 are congruent to 01 and 02, and never computed.
  if (check > 97) return false;
  const remainder = (weightedSum(body, [8, 7, 6, 5, 4, 3, 2]) + check) % 97;
  return remainder === 0 || (remainder === 42 && numberAt(body, 0, 7) >= 1_000_000);
}

function fitsBritish(body: string): boolean {
  if (body.length === 5) return /^(?:GD[0-4]|HA[5-9])\d\d$/.test(body);
  return isDigits(body);
}

function british(prefix: "GB" | "XI"): VatRule {
  return {
    prefix,
    country: "GB",
    shape: "9 or 12 digits, or GD or HA and 3 digits",
    lengths: [9, 12, 5],
    strength: "two_check_digits",
    // Government departments (GD) and health authorities (HA) have no check digits.
    strengthOf: (body) => (body.length === 5 ? "format" : undefined),
    fits: fitsBritish,
    holds: (body) => body.length === 5 || holdsBritish(body),
    isIssued: (body) => body.length === 5 || (numberAt(body, 0, 7) > 0 && !body.startsWith("000", 9)),
    format: (body) =>
      body.length === 5
        ? `${prefix}${body}`
        : `${prefix} ${body.slice(0, 3)} ${body.slice(3, 7)} ${body.slice(7, 9)} ${body.slice(9)}`.trimEnd(),
  };
}

const switzerland: VatRule = {
  prefix: "CHE",
  country: "CH",
  shape: "9 digits, with or without MWST, TVA, IVA or TPV",
  lengths: [9, 12, 13],
  strength: "check_digit",
  fits: (body) => /^\d{9}(?:MWST|TVA|IVA|TPV)?$/.test(body),
  holds: (body) => complementOf11(weightedSum(body, [5, 4, 3, 2, 7, 6, 5, 4]), -1) === digitAt(body, 8),
  numberLength: 9,
  format: (body) =>
    `CHE-${body.slice(0, 3)}.${body.slice(3, 6)}.${body.slice(6, 9)} ${body.slice(9)}`.trimEnd(),
};

export const westernRules: readonly VatRule[] = [
  austria,
  belgium,
  germany,
  france,
  luxembourg,
  netherlands,
  ireland,
  british("GB"),
  british("XI"),
  switzerland,
];
