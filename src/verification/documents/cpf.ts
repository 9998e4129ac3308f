import type { IdentityWarning } from "../../contract/words.ts";
import { alphabetOf, compactBy, DIGITS, unreadable, wrongLength } from "./alphabet.ts";
import { isOneCharacterRepeated } from "./checksums/digits.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeKnown } from "./written-details.ts";

const ALPHABET = alphabetOf(DIGITS, "-./");
const LENGTH = 11;

/** The states of the fiscal region of the Receita Federal that issued the number, by its ninth digit. */
const REGIONS = [
  "RS",
  "DF, GO, MS, MT, TO",
  "AC, AM, AP, PA, RO, RR",
  "CE, MA, PI",
  "AL, PB, PE, RN",
  "BA, SE",
  "MG",
  "ES, RJ",
  "SP",
  "PR, SC",
] as const;

/** The number that most examples use; its check digits are valid. */
const EXAMPLE = "12345678909";
const TEST_NUMBER: readonly IdentityWarning[] = ["test_number"];

const UNREAD: Finding<"cpf"> = {
  normalized: null,
  formatted: null,
  country: "BR",
  strength: "two_check_digits",
  warnings: NO_WARNINGS,
  data_version: null,
  details: { region: null, expected_check_digits: null },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `52998224725` as `529.982.247-25`. */
function format(digits: string): string {
  return `${digits.slice(0, 3)}.${digits.slice(3, 6)}.${digits.slice(6, 9)}-${digits.slice(9)}`;
}

/** Returns both check digits as a number from 0 to 99: two sums modulo 11, where 10 becomes 0. */
function expectedCheckDigits(digits: string): number {
  let first = 0;
  let second = 0;
  for (let i = 0; i < 9; i++) {
    const digit = digits.charCodeAt(i) - 48;
    first += digit * (10 - i);
    second += digit * (11 - i);
  }
  const firstDigit = first % 11 < 2 ? 0 : 11 - (first % 11);
  second += firstDigit * 2;
  return firstDigit * 10 + (second % 11 < 2 ? 0 : 11 - (second % 11));
}

function validate(value: string): Outcome<"cpf"> {
  const digits = compact(value);
  if (digits === null) return unreadable("cpf", value, "a CPF", ALPHABET, UNREAD);
  if (digits.length !== LENGTH) {
    return wrongLength("cpf", value, digits, `A CPF has ${LENGTH} digits`, UNREAD);
  }
  const expected = expectedCheckDigits(digits);
  const expectedText = expected < 10 ? `0${expected}` : `${expected}`;
  const finding: Finding<"cpf"> = {
    normalized: digits,
    formatted: format(digits),
    country: "BR",
    strength: "two_check_digits",
    warnings: digits === EXAMPLE ? TEST_NUMBER : NO_WARNINGS,
    data_version: null,
    details: { region: REGIONS[digits.charCodeAt(8) - 48] ?? null, expected_check_digits: expectedText },
  };
  // One repeated digit has valid check digits, and is never issued.
  if (isOneCharacterRepeated(digits)) {
    return failed("cpf", value, "component", "A CPF of one repeated digit is never issued.", finding);
  }
  if (!digits.endsWith(expectedText)) {
    const message = `The check digits are ${digits.slice(9)} and should be ${expectedText}.`;
    return failed("cpf", value, "checksum", message, finding);
  }
  return passed("cpf", value, finding);
}

const FIELD = fieldStarts(UNREAD.details);
const GROUP_ENDS = [3, 6, 9, 11];

const stretches: StretchWriter<"cpf"> = {
  formatted: (digits, _, writer) => writer.grouped(digits, GROUP_ENDS, "..-"),
  details(_, { region, expected_check_digits }, writer) {
    writer.bytes(FIELD.region);
    writeKnown(region, writer);
    writer.bytes(FIELD.expected_check_digits);
    writer.json(expected_check_digits);
  },
};

/**
 * The Brazilian number of a natural person (Receita Federal): nine digits and two check digits.
 * @checked 11 digits, two digits modulo 11; repeated digits refused (`component`)
 * @example
 * cpf.validate("529.982.247-25").valid === true
 */
export const cpf: DocumentCheck<"cpf"> = { compact, validate, format, unread: UNREAD, stretches };
