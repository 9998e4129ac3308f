import { alphabetOf, compactBy, DIGITS, LETTERS, unreadable, wrongLength } from "./alphabet.ts";
import { isDigits, isOneCharacterRepeated } from "./checksums/digits.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeBoolean } from "./written-details.ts";

const ALPHABET = alphabetOf(DIGITS + LETTERS, "-./");
const LENGTH = 14;
const BASE_LENGTH = 12;

const UNREAD: Finding<"cnpj"> = {
  normalized: null,
  formatted: null,
  country: "BR",
  strength: "two_check_digits",
  warnings: NO_WARNINGS,
  data_version: null,
  details: { root: null, branch: null, alphanumeric: null, expected_check_digits: null },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `12ABC34501DE35` as `12.ABC.345/01DE-35`. */
function format(number: string): string {
  const root = `${number.slice(0, 2)}.${number.slice(2, 5)}.${number.slice(5, 8)}`;
  return `${root}/${number.slice(8, 12)}-${number.slice(12)}`;
}

/**
 * Returns the two check digits of the first twelve characters: the value of a character is its ASCII code less 48,
 * weights run from 2 to 9 from the right, and 10 and 11 become 0 (IN RFB 2.229/2024).
 */
export function cnpjCheckDigits(number: string): string {
  let first = 0;
  let second = 0;
  for (let i = 0; i < BASE_LENGTH; i++) {
    const value = number.charCodeAt(i) - 48;
    first += value * (((BASE_LENGTH - 1 - i) % 8) + 2);
    second += value * (((BASE_LENGTH - i) % 8) + 2);
  }
  const firstDigit = first % 11 < 2 ? 0 : 11 - (first % 11);
  second += firstDigit * 2;
  const secondDigit = second % 11 < 2 ? 0 : 11 - (second % 11);
  return `${firstDigit}${secondDigit}`;
}

/** Returns whether a number is one repeated character: never issued, though its check digits may be valid. */
function isNeverIssued(number: string): boolean {
  return isOneCharacterRepeated(isDigits(number) ? number : number.slice(0, BASE_LENGTH));
}

function validate(value: string): Outcome<"cnpj"> {
  const number = compact(value);
  if (number === null) return unreadable("cnpj", value, "a CNPJ", ALPHABET, UNREAD);
  if (number.length !== LENGTH) {
    return wrongLength("cnpj", value, number, `A CNPJ has ${LENGTH} characters`, UNREAD);
  }
  if (!isDigits(number, BASE_LENGTH)) {
    const message = "The last two characters of a CNPJ are digits.";
    return failed("cnpj", value, "format", message, { ...UNREAD, normalized: number });
  }
  const expected = cnpjCheckDigits(number);
  const finding: Finding<"cnpj"> = {
    normalized: number,
    formatted: format(number),
    country: "BR",
    strength: "two_check_digits",
    warnings: NO_WARNINGS,
    data_version: null,
    details: {
      root: number.slice(0, 8),
      branch: number.slice(8, 12),
      alphanumeric: !isDigits(number, 0, BASE_LENGTH),
      expected_check_digits: expected,
    },
  };
  if (isNeverIssued(number)) {
    return failed("cnpj", value, "component", "A CNPJ of one repeated character is never issued.", finding);
  }
  if (!number.endsWith(expected)) {
    const message = `The check digits are ${number.slice(BASE_LENGTH)} and should be ${expected}.`;
    return failed("cnpj", value, "checksum", message, finding);
  }
  return passed("cnpj", value, finding);
}

const FIELD = fieldStarts(UNREAD.details);
const GROUP_ENDS = [2, 5, 8, 12, 14];

const stretches: StretchWriter<"cnpj"> = {
  formatted: (number, _, writer) => writer.grouped(number, GROUP_ENDS, "../-"),
  details(number, { alphanumeric, expected_check_digits }, writer) {
    writer.bytes(FIELD.root);
    writer.quoted(number, 0, 8);
    writer.bytes(FIELD.branch);
    writer.quoted(number, 8, 12);
    writer.bytes(FIELD.alphanumeric);
    writeBoolean(alphanumeric, writer);
    writer.bytes(FIELD.expected_check_digits);
    writer.json(expected_check_digits);
  },
};

/**
 * The Brazilian number of a legal entity (Receita Federal): an eight-character root, a four-character
 * branch and two check digits, alphanumeric since 31 July 2026.
 * @checked 12 characters and two digits modulo 11, letters since July 2026; repeated characters refused (`component`)
 * @example
 * cnpj.validate("12.abc.345/01de-35").normalized === "12ABC34501DE35"
 */
export const cnpj: DocumentCheck<"cnpj"> = { compact, validate, format, unread: UNREAD, stretches };
