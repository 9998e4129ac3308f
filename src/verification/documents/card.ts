import type { IdentityWarning } from "../../contract/words.ts";
import { compactBy, unreadable } from "./alphabet.ts";
import { type CardBrand, cardBrandOf, cardBrandsVersion } from "./card-brand.ts";
import { CARD_ALPHABET, MASKED_DIGITS_MIN, maskCardNumber, maskDigits } from "./card-mask.ts";
import { digitAt, numberAt } from "./checksums/digits.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
import testNumberText from "./data/card-test-numbers.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeKnown, writeNumber } from "./written-details.ts";

const LENGTH_MIN = 12;
const LENGTH_MAX = 19;

const testNumbers = new Set(tableRows(testNumberText).map(([number = ""]) => number));

const TEST_NUMBER: readonly IdentityWarning[] = ["test_number"];
const UNKNOWN_ISSUER: readonly IdentityWarning[] = ["unknown_issuer"];
const LEGACY_LENGTH: readonly IdentityWarning[] = ["legacy_length"];
const LEGACY_TEST_NUMBER: readonly IdentityWarning[] = [...LEGACY_LENGTH, ...TEST_NUMBER];

const UNREAD: Finding<"card"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "check_digit",
  warnings: NO_WARNINGS,
  data_version: cardBrandsVersion,
  details: { brand: null, iin: null, last4: null, length: null, cvv_length: null },
};

/** Returns the bare digits: the unmasked number, which must not be shown, stored or logged. */
function compact(value: string): string | null {
  return compactBy(CARD_ALPHABET, value);
}

/** Formats `4242424242424242` as `424242******4242`: a card number is only written masked. */
function format(digits: string): string {
  return maskDigits(digits);
}

/** Returns whether a number has a length that is no longer issued: 13 digits of Visa, 15 of JCB. */
function isLegacyLength(brand: CardBrand, digits: string): boolean {
  if (brand.name === "visa") return digits.length === 13;
  return brand.name === "jcb" && digits.length === 15 && !digits.startsWith("3");
}

function warningsFor(brand: CardBrand | null, digits: string): readonly IdentityWarning[] {
  if (brand === null) return UNKNOWN_ISSUER;
  const isTest = testNumbers.has(digits);
  if (!isLegacyLength(brand, digits)) return isTest ? TEST_NUMBER : NO_WARNINGS;
  return isTest ? LEGACY_TEST_NUMBER : LEGACY_LENGTH;
}

function refuseLength(shown: string, digits: string): Outcome<"card"> {
  const message = `A card number has ${LENGTH_MIN} to ${LENGTH_MAX} digits; this has ${digits.length}.`;
  const finding: Finding<"card"> = {
    ...UNREAD,
    normalized: maskDigits(digits),
    details: { ...UNREAD.details, length: digits.length },
  };
  return failed("card", shown, "length", message, finding);
}

function validate(value: string): Outcome<"card"> {
  const digits = compact(value);
  if (digits === null) {
    return {
      ...unreadable("card", value, "a card number", CARD_ALPHABET, UNREAD),
      value: maskCardNumber(value, MASKED_DIGITS_MIN),
    };
  }
  const shown = maskDigits(digits);
  if (digits.length < LENGTH_MIN || digits.length > LENGTH_MAX)
    return refuseLength(maskCardNumber(value, MASKED_DIGITS_MIN), digits);
  const brand = cardBrandOf(numberAt(digits, 0, 8));
  const finding: Finding<"card"> = {
    normalized: shown,
    formatted: shown,
    country: null,
    strength: "check_digit",
    warnings: warningsFor(brand, digits),
    data_version: cardBrandsVersion,
    details: {
      brand: brand === null ? null : brand.name,
      iin: digits.slice(0, 6),
      last4: digits.slice(-4),
      length: digits.length,
      cvv_length: brand === null ? null : brand.cvvLength,
    },
  };
  if (brand !== null && !brand.lengths.includes(digits.length) && !isLegacyLength(brand, digits)) {
    const lengths = brand.lengths.join(", ").replace(/, (\d+)$/, " or $1");
    const message = `Cards of ${brand.name} have ${lengths} digits; this has ${digits.length}.`;
    return failed("card", shown, "length", message, finding);
  }
  const remainder = luhnRemainder(digits);
  if (remainder !== 0) {
    const given = digitAt(digits, digits.length - 1);
    const message = `The check digit is ${given} and should be ${(given + 10 - remainder) % 10}.`;
    return failed("card", shown, "checksum", message, finding);
  }
  return passed("card", shown, finding);
}

const FIELD = fieldStarts(UNREAD.details);

const stretches: StretchWriter<"card"> = {
  formatted: (masked, _, writer) => writer.quoted(masked, 0, masked.length),
  details(masked, { brand, length, cvv_length }, writer) {
    writer.bytes(FIELD.brand);
    writeKnown(brand, writer);
    writer.bytes(FIELD.iin);
    writer.quoted(masked, 0, 6);
    writer.bytes(FIELD.last4);
    writer.quoted(masked, masked.length - 4, masked.length);
    writer.bytes(FIELD.length);
    writeNumber(length, writer);
    writer.bytes(FIELD.cvv_length);
    writeNumber(cvv_length, writer);
  },
};

/**
 * A payment card number (ISO/IEC 7812), checked by its Luhn digit and its brand's lengths. The number is masked in
 * every result, however it was written.
 * @checked Luhn, 12–19 digits, the lengths of the brand
 * @registry credit-card-type release
 * @example
 * card.validate("4242 4242 4242 4242").value === "424242******4242"
 */
export const card: DocumentCheck<"card"> = { compact, validate, format, unread: UNREAD, stretches };
