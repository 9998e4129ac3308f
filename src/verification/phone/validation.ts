import type { PhoneReason } from "../../contract/words.ts";
import { domesticForm } from "./domestic-format.ts";
import { lengthFault, parseNumber, type Reading } from "./parse.ts";
import { type PhoneRegion, type PhoneResult, unread } from "./phone-number.ts";
import { type PhoneText, readPhoneText } from "./phone-text.ts";
import { type PlainVerdict, plainResult, validatePlain, verifyPlain } from "./plain-validation.ts";
import { originalCarrierOf, timezonesOf } from "./prefixes.ts";
import { planRegion } from "./region.ts";
import { type ValidNumber, validNumberOf } from "./valid-number.ts";

/**
 * Validates a phone number. `region` applies where the text has no international prefix. Accepts any text, never
 * throws, and reads at most 250 characters.
 *
 * @example validatePhone("+55 11 98765-4321", undefined).e164 // "+5511987654321"
 * @example validatePhone("(11) 98765-4321", { country: "BR" }).e164 // "+5511987654321"
 */
export function validatePhone(text: string, region: PhoneRegion | undefined): PhoneResult {
  return validateByPlans(text, region) ?? validateByLibrary(text, region);
}

/** Validates as `validatePhone` does, by the compiled plans alone. Undefined where only the library can decide. */
export function validateByPlans(text: string, region: PhoneRegion | undefined): PhoneResult | undefined {
  const planned = planRegion(region);
  const plain = validatePlain(text, planned);
  if (plain !== undefined) return plain;
  const verdict = verifyWritten(text, planned);
  return verdict === undefined ? undefined : plainResult(text, verdict);
}

/** Validates as `validatePhone` does, but returns most valid numbers without a result, ready to be serialised. */
export function verifyPhone(text: string, region: PhoneRegion | undefined): ValidNumber | PhoneResult {
  const planned = planRegion(region);
  const verdict = verifyPlain(text, planned);
  if (verdict !== undefined) return validNumberOf(text, verdict) ?? plainResult(text, verdict);
  const written = verifyWritten(text, planned);
  return written === undefined ? validateByLibrary(text, region) : plainResult(text, written);
}

/**
 * Verifies other forms by the compiled plans: full-width digits, no-break spaces, `tel:`. Undefined where only the
 * library can decide, as for extensions and letters.
 */
function verifyWritten(text: string, region: PhoneRegion | undefined): PlainVerdict | undefined {
  const written = readPhoneText(text);
  if (typeof written === "string") return written;
  const { number, extension, beforeLetters } = written;
  return extension === undefined && beforeLetters === undefined ? verifyPlain(number, region) : undefined;
}

/** Validates as `validatePhone` does, by libphonenumber-js alone: the reference, which decides on any text. */
export function validateByLibrary(text: string, region: PhoneRegion | undefined): PhoneResult {
  const written = readPhoneText(text);
  if (typeof written === "string") return unread(text, written);
  const planned = planRegion(region);
  // Letters behind a number that is valid without them are a remark: "030 123456 privat".
  if (written.beforeLetters !== undefined && isValid(readNumber(written.beforeLetters.trim(), planned))) {
    return unread(text, "not_a_number");
  }
  const reading = readNumber(written.number, planned);
  return typeof reading === "string" ? unread(text, reading) : result(text, written, reading);
}

/** Exit codes that are tried where the region has another one: 00 (ITU-T E.123) and 011. */
const EXIT_CODE = /^[^\d+]*0[^\d+]*(?:0|1[^\d+]*1)[^\d+]*(?=[1-9])/;
const DOUBLE_ZERO = /^[^\d+]*0[^\d+]*0/;
/** The exit code of Russia and Kazakhstan, 8~10: a calling code alone gives the library no country to take it from. */
const EXIT_CODE_OF_7 = /^[^\d+]*8[^\d+]*1[^\d+]*0[^\d+]*(?=[1-9])/;

function readNumber(number: string, region: PhoneRegion | undefined): Reading | PhoneReason {
  const first = parseNumber(number, region);
  if (isValid(first) || number.startsWith("+")) return first;
  const exitCode =
    region !== undefined &&
    "callingCode" in region &&
    region.callingCode === "7" &&
    EXIT_CODE_OF_7.test(number)
      ? EXIT_CODE_OF_7
      : EXIT_CODE;
  if (!exitCode.test(number)) return first;
  const second = parseNumber(number.replace(exitCode, "+"), region);
  const onlyInternational = region === undefined && first === "invalid_country" && DOUBLE_ZERO.test(number);
  return isValid(second) || onlyInternational ? second : first;
}

function isValid(reading: Reading | PhoneReason): boolean {
  return typeof reading !== "string" && reading.type !== undefined;
}

/** Returns the national form: the library's, or the domestic one where the library has no format but bare digits. */
function nationalFormOf(number: Reading["number"]): string {
  const written = number.formatNational();
  const digits = number.nationalNumber;
  if (!written.startsWith(digits)) return written;
  return domesticForm(number.countryCallingCode, digits) + written.slice(digits.length);
}

function result(phone: string, written: PhoneText, { number, type }: Reading): PhoneResult {
  if (written.extension !== undefined) number.setExt(written.extension);
  const valid = type !== undefined;
  const possible = valid || number.isPossible();
  const digits = number.countryCallingCode + number.nationalNumber;
  const isNonGeographic = number.isNonGeographic();
  return {
    phone,
    valid,
    possible,
    reason: valid ? null : possible ? "invalid_number" : lengthFault(number),
    e164: possible ? number.number : null,
    international: possible ? number.formatInternational() : null,
    national: possible ? nationalFormOf(number) : null,
    rfc3966: possible ? number.getURI() : null,
    country: isNonGeographic ? "001" : (number.country ?? null),
    calling_code: number.countryCallingCode,
    national_number: number.nationalNumber,
    extension: number.ext ?? null,
    is_non_geographic: isNonGeographic,
    vanity: written.beforeLetters !== undefined,
    type: type ?? null,
    timezones: type === undefined ? [] : timezonesOf(digits, number.countryCallingCode, type).list,
    original_carrier: type === undefined ? null : originalCarrierOf(digits, number.country, type),
  };
}
