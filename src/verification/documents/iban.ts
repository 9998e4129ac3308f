import { alphabetOf, compactBy, DIGITS, LETTERS, unreadable } from "./alphabet.ts";
import { isDigits, numberAt } from "./checksums/digits.ts";
import { mod97 } from "./checksums/mod97.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { fitsStructure, type IbanCountry, ibanCountryOf, ibanHostOf } from "./iban-country.ts";
import { type Finding, failed, type NationalCheck, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeBoolean, writeKnown, writeStretch } from "./written-details.ts";

const ALPHABET = alphabetOf(DIGITS + LETTERS, "-.");
const BBAN_START = 4;
const DATA_VERSION = "SWIFT IBAN registry 103 (2026-09)";

const UNREAD: Finding<"iban"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "mod97",
  warnings: NO_WARNINGS,
  data_version: DATA_VERSION,
  details: {
    check_digits: null,
    expected_check_digits: null,
    bban: null,
    bank_code: null,
    branch_code: null,
    account_number: null,
    national_check: "not_checked",
    sepa: null,
  },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `DE89370400440532013000` as `DE89 3704 0044 0532 0130 00`. */
function format(iban: string): string {
  let text = `${iban.slice(0, 4)} ${iban.slice(4, 8)} ${iban.slice(8, 12)}`;
  for (let i = 12; i < iban.length; i += 4) text += ` ${iban.slice(i, i + 4)}`;
  return text;
}

/** Returns the check digits of country and BBAN: 02 to 98, never 00, 01 or 99, which are congruent to 97, 98 and 02. */
export function ibanCheckDigits(iban: string): string {
  const expected = 98 - mod97(`${iban.slice(0, 2)}00`, 0, 4, mod97(iban, BBAN_START));
  return expected < 10 ? `0${expected}` : `${expected}`;
}

/** Returns whether the whole number is 1 modulo 97 and its check digits are among those that can be computed. */
function holdsCheckDigits(iban: string): boolean {
  const given = numberAt(iban, 2, BBAN_START);
  if (given < 2 || given > 98) return false;
  return mod97(iban, 0, BBAN_START, mod97(iban, BBAN_START)) === 1;
}

function nationalCheckOf({ nationalRule }: IbanCountry, iban: string): NationalCheck {
  if (nationalRule === null) return "not_checked";
  return nationalRule(iban) ? "pass" : "fail";
}

function findingFor(iban: string, country: IbanCountry, expected: string): Finding<"iban"> {
  const { bank, branch, account } = country;
  return {
    normalized: iban,
    formatted: format(iban),
    country: country.code,
    strength: "mod97",
    warnings: country.warningsFor(iban),
    data_version: DATA_VERSION,
    details: {
      check_digits: iban.slice(2, BBAN_START),
      expected_check_digits: expected,
      bban: iban.slice(BBAN_START),
      bank_code: bank === null ? null : iban.slice(bank.start, bank.end),
      branch_code: branch === null ? null : iban.slice(branch.start, branch.end),
      account_number: iban.slice(account.start, account.end),
      national_check: nationalCheckOf(country, iban),
      sepa: country.sepa,
    },
  };
}

function refuseCountry(value: string, iban: string): Outcome<"iban"> {
  const code = iban.slice(0, 2);
  if (!/^[A-Z]{2}$/.test(code)) {
    const message = "An IBAN begins with the two letters of its country.";
    return failed("iban", value, "format", message, { ...UNREAD, normalized: iban });
  }
  const host = ibanHostOf(code);
  const message =
    host === null
      ? `The IBAN registry has no country ${code}.`
      : `The IBAN registry has no country ${code}; accounts there are numbered under ${host}.`;
  const details = { ...UNREAD.details, check_digits: givenCheckDigits(iban) };
  return failed("iban", value, "component", message, { ...UNREAD, normalized: iban, details });
}

function validate(value: string): Outcome<"iban"> {
  const iban = compact(value);
  if (iban === null) return unreadable("iban", value, "an IBAN", ALPHABET, UNREAD);
  const country = ibanCountryOf(iban);
  if (country === null) return refuseCountry(value, iban);
  const { length } = country.classes;
  if (iban.length !== length) {
    const message = `An IBAN of ${country.code} has ${length} characters; this has ${iban.length}.`;
    return failed("iban", value, "length", message, unstructured(iban, country));
  }
  if (!fitsStructure(country, iban)) {
    const message = `An IBAN of ${country.code} is built ${country.structure}; this is not.`;
    return failed("iban", value, "format", message, unstructured(iban, country));
  }
  if (!holdsCheckDigits(iban)) {
    const expected = ibanCheckDigits(iban);
    const message = `The check digits are ${iban.slice(2, 4)} and should be ${expected}.`;
    return failed("iban", value, "checksum", message, findingFor(iban, country, expected));
  }
  const finding = findingFor(iban, country, iban.slice(2, BBAN_START));
  if (finding.details.national_check === "fail") {
    const message = `The check digits within the account number are not those of ${country.code}.`;
    return failed("iban", value, "component", message, finding);
  }
  return passed("iban", value, finding);
}

function givenCheckDigits(iban: string): string | null {
  return iban.length >= BBAN_START && isDigits(iban, 2, BBAN_START) ? iban.slice(2, BBAN_START) : null;
}

function unstructured(iban: string, country: IbanCountry): Finding<"iban"> {
  return {
    ...UNREAD,
    normalized: iban,
    country: country.code,
    details: { ...UNREAD.details, check_digits: givenCheckDigits(iban), sepa: country.sepa },
  };
}

const FIELD = fieldStarts(UNREAD.details);
const LENGTH_MAX = 34;
/** The ends of the groups of four, by length. */
const GROUP_ENDS = Array.from({ length: LENGTH_MAX + 1 }, (_, length) =>
  Array.from({ length: Math.ceil(length / 4) }, (_, group) => Math.min(group * 4 + 4, length)),
);
const SPACES = " ".repeat(LENGTH_MAX / 4);

const stretches: StretchWriter<"iban"> = {
  formatted: (iban, _, writer) => writer.grouped(iban, GROUP_ENDS[iban.length] ?? [], SPACES),
  details(iban, { expected_check_digits, national_check, sepa }, writer) {
    const { bank = null, branch = null, account = null } = ibanCountryOf(iban) ?? {};
    writer.bytes(FIELD.check_digits);
    writer.quoted(iban, 2, BBAN_START);
    writer.bytes(FIELD.expected_check_digits);
    writer.json(expected_check_digits);
    writer.bytes(FIELD.bban);
    writer.quoted(iban, BBAN_START, iban.length);
    writer.bytes(FIELD.bank_code);
    writeStretch(iban, bank, writer);
    writer.bytes(FIELD.branch_code);
    writeStretch(iban, branch, writer);
    writer.bytes(FIELD.account_number);
    writeStretch(iban, account, writer);
    writer.bytes(FIELD.national_check);
    writeKnown(national_check, writer);
    writer.bytes(FIELD.sepa);
    writeBoolean(sepa, writer);
  },
};

/**
 * The international bank account number (ISO 13616): structure by the SWIFT registry, ISO 7064 MOD 97-10, and the
 * national check digits where their rule is public and holds for real accounts.
 * @checked country, length and structure of the SWIFT registry (89 countries), digits 02–98, ISO 7064 MOD 97-10; then national check digits of BE BA CZ EE ES FI FR HR HU IT MC ME MK MR NO PL PT RS SI SK SM TL TN (`component` where they fail, or where a key lies outside 02–98 or, by RIB, 01–97)
 * @registry SWIFT IBAN registry
 * @example
 * iban.validate("GB29 NWBK 6016 1331 9268 19").details.bank_code === "NWBK"
 */
export const iban: DocumentCheck<"iban"> = { compact, validate, format, unread: UNREAD, stretches };
