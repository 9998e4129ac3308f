import type { IdentityWarning } from "../../../contract/words.ts";
import { digitAt, isDigits, numberAt, weightedSum } from "../checksums/digits.ts";
import { holdsMod11And10 } from "../checksums/iso7064.ts";
import { cnpj, cnpjCheckDigits } from "../cnpj.ts";
import { NO_WARNINGS } from "../outcome.ts";
import { isDay, type VatRule } from "./rule.ts";

const serbia: VatRule = {
  prefix: "RS",
  country: "RS",
  shape: "9 digits",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: holdsMod11And10,
};

/** Checks a VKN: each digit is shifted by its position, then weighted with a power of two modulo 9. */
function holdsTurkish(body: string): boolean {
  let sum = 0;
  for (let i = 0; i < 9; i++) {
    const shifted = (digitAt(body, i) + 9 - i) % 10;
    const weighted = (shifted * 2 ** (9 - i)) % 9;
    sum += shifted !== 0 && weighted === 0 ? 9 : weighted;
  }
  return (10 - (sum % 10)) % 10 === digitAt(body, 9);
}

const turkey: VatRule = {
  prefix: "TR",
  country: "TR",
  shape: "10 digits",
  lengths: [10],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: holdsTurkish,
};

const australia: VatRule = {
  prefix: "AU",
  country: "AU",
  shape: "the 11 digits of an ABN, the first not 0",
  lengths: [11],
  strength: "two_check_digits",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  // The first two digits are 99 less the remainder of the rest: 11 to 99, never 10, which is congruent to 99.
  holds: (body) =>
    99 - (weightedSum(body, [3, 5, 7, 9, 11, 13, 15, 17, 19], 2) % 89) === numberAt(body, 0, 2),
  format: (body) => `AU ${body.slice(0, 2)} ${body.slice(2, 5)} ${body.slice(5, 8)} ${body.slice(8)}`,
};

/** Checks by Luhn in base 36, with the weights 1 and 2 from the left. */
function holdsIndian(body: string): boolean {
  let sum = 0;
  for (let i = 0; i < 14; i++) {
    const product = valueIn36(body, i) * (i % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / 36) + (product % 36);
  }
  return (36 - (sum % 36)) % 36 === valueIn36(body, 14);
}

function valueIn36(body: string, index: number): number {
  const code = body.charCodeAt(index);
  return code <= 57 ? code - 48 : code - 55;
}

function isIndianState(code: number): boolean {
  return (code >= 1 && code <= 38) || code === 96 || code === 97 || code === 99;
}

const india: VatRule = {
  prefix: "IN",
  country: "IN",
  shape: "a GSTIN of 15 characters",
  lengths: [15],
  strength: "check_digit",
  // The thirteenth character counts the registrations of a taxpayer in a state, from 1.
  fits: (body) => /^\d\d[A-Z]{5}\d{4}[A-Z][1-9A-Z][A-Z][0-9A-Z]$/.test(body),
  holds: holdsIndian,
  isIssued: (body) => isIndianState(numberAt(body, 0, 2)),
};

const RFC = /^[A-ZÑ&]{3,4}\d{6}[0-9A-Z]{2}[0-9A]$/;
const RFC_CHARACTERS = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";
const MISMATCH: readonly IdentityWarning[] = ["check_digit_mismatch"];

/** Checks the check digit of an RFC by annex 20, which some issued numbers do not obey. */
function holdsMexican(body: string): boolean {
  const padded = body.padStart(13);
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += RFC_CHARACTERS.indexOf(padded.charAt(i)) * (13 - i);
  return RFC_CHARACTERS.charAt((11 - (sum % 11)) % 11) === body.slice(-1);
}

/** Offensive first letters of a person's number, of which the tax authority replaces the last by X. */
const RUDE_WORDS: ReadonlySet<string> = new Set(
  (
    "BUEI BUEY CACA CACO CAGA CAGO CAKA CAKO COGE COJA COJE COJI COJO CULO FETO GUEY JOTO KACA KACO KAGA KAGO " +
    "KAKA KOGE KOJO KULO LOCA LOCO LOKA LOKO MAME MAMO MEAR MEAS MEON MION MOCO MULA PEDA PEDO PENE PUTA PUTO " +
    "QULO RATA RUIN"
  ).split(" "),
);

function fitsMexican(body: string): boolean {
  const date = body.slice(-9, -3);
  return RFC.test(body) && isDay(numberAt(date, 0, 2), numberAt(date, 2, 4), numberAt(date, 4, 6));
}

const mexico: VatRule = {
  prefix: "MX",
  country: "MX",
  shape: "an RFC of 12 or 13 characters with a day in it",
  lengths: [12, 13],
  strength: "format",
  fits: fitsMexican,
  holds: () => true,
  isIssued: (body) => body.length === 12 || !RUDE_WORDS.has(body.slice(0, 4)),
  warningsFor: (body) => (holdsMexican(body) ? NO_WARNINGS : MISMATCH),
};

/** Checks an INN: entities have one check digit, persons two. */
function holdsRussian(body: string): boolean {
  const weights = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];
  if (body.length === 10) return (weightedSum(body, weights.slice(2)) % 11) % 10 === digitAt(body, 9);
  return (
    (weightedSum(body, weights.slice(1)) % 11) % 10 === digitAt(body, 10) &&
    (weightedSum(body, weights) % 11) % 10 === digitAt(body, 11)
  );
}

const russia: VatRule = {
  prefix: "RU",
  country: "RU",
  shape: "the 10 or 12 digits of an INN",
  lengths: [10, 12],
  strength: "check_digit",
  strengthOf: (body) => (body.length === 12 ? "two_check_digits" : undefined),
  fits: (body) => isDigits(body),
  holds: holdsRussian,
};

const brazil: VatRule = {
  prefix: "BR",
  country: "BR",
  shape: "the 14 characters of a CNPJ",
  lengths: [14],
  strength: "two_check_digits",
  fits: (body) => /^[0-9A-Z]{12}\d\d$/.test(body),
  holds: (body) => body.endsWith(cnpjCheckDigits(body)),
  isIssued: (body) => cnpj.validate(body).reason !== "component",
  format: (body) => `BR ${cnpj.format(body)}`,
};

/** Numeric ISO 3166 codes of the member states that register for the One Stop Shop, and 900 for Northern Ireland. */
const MEMBER_STATES = new Set(
  (
    "040 056 100 191 196 203 208 233 246 250 276 300 348 372 380 428 440 442 470 528 616 620 642 703 705 " +
    "724 752 900"
  ).split(" "),
);

/** Creates the rule of the non-Union scheme (EU) or the import scheme (IM). That of their last digit is not public. */
function oneStopShop(prefix: "EU" | "IM", length: number): VatRule {
  return {
    prefix,
    country: null,
    shape: `${length} digits, the first three a member state's`,
    lengths: [length],
    strength: "format",
    fits: (body) => isDigits(body),
    holds: () => true,
    isIssued: (body) => MEMBER_STATES.has(body.slice(0, 3)),
  };
}

export const rulesBeyond: readonly VatRule[] = [
  serbia,
  turkey,
  australia,
  india,
  mexico,
  russia,
  brazil,
  oneStopShop("EU", 9),
  oneStopShop("IM", 10),
];
