import type { PhoneReason } from "../../contract/words.ts";
import { domesticForm } from "./domestic-format.ts";
import { lengthFault, parseNumber, type Reading } from "./parse.ts";
import { type PhoneRegion, type PhoneResult, unread } from "./phone-number.ts";
import { type PhoneText, readPhoneText } from "./phone-text.ts";
import { judgePlain, type PlainVerdict, plainResult, validatePlain } from "./plain-validation.ts";
import { originalCarrierOf, timezonesOf } from "./prefixes.ts";
import { planRegion } from "./region.ts";
import { type ValidNumber, validNumberOf } from "./valid-number.ts";

/**
 * Judges one phone number. `region` serves where the text has no international prefix. Takes any text,
 * never throws, and looks at no more than 250 characters.
 *
 * @example validatePhone("+55 11 98765-4321", undefined).e164 // "+5511987654321"
 * @example validatePhone("(11) 98765-4321", { country: "BR" }).e164 // "+5511987654321"
 */
export function validatePhone(text: string, region: PhoneRegion | undefined): PhoneResult {
  return validateByPlans(text, region) ?? validateByLibrary(text, region);
}

/** Judges as `validatePhone` does, by the compiled plans alone. Undefined where only the library can decide. */
export function validateByPlans(text: string, region: PhoneRegion | undefined): PhoneResult | undefined {
  const planned = planRegion(region);
  const plain = validatePlain(text, planned);
  if (plain !== undefined) return plain;
  const verdict = judgeWritten(text, planned);
  return verdict === undefined ? undefined : plainResult(text, verdict);
}

/** Judges as `validatePhone` does; of most valid numbers no result is made, as they can be written down without. */
export function judgePhone(text: string, region: PhoneRegion | undefined): ValidNumber | PhoneResult {
  const planned = planRegion(region);
  const verdict = judgePlain(text, planned);
  if (verdict !== undefined) return validNumberOf(text, verdict) ?? plainResult(text, verdict);
  const written = judgeWritten(text, planned);
  return written === undefined ? validateByLibrary(text, region) : plainResult(text, written);
}

/**
 * Judges other forms by the compiled plans: full-width digits, no-break blanks, `tel:`. Undefined where
 * only the library can decide, as of extensions and letters.
 */
function judgeWritten(text: string, region: PhoneRegion | undefined): PlainVerdict | undefined {
  const written = readPhoneText(text);
  if (typeof written === "string") return written;
  const { number, extension, beforeLetters } = written;
  return extension === undefined && beforeLetters === undefined ? judgePlain(number, region) : undefined;
}

/** Judges as `validatePhone` does, by libphonenumber-js alone: the reference, and the way for any text. */
export function validateByLibrary(text: string, region: PhoneRegion | undefined): PhoneResult {
  const written = readPhoneText(text);
  if (typeof written === "string") return unread(text, written);
  const planned = planRegion(region);
  // A number that is whole without its letters has a remark behind it: "030 123456 privat".
  if (written.beforeLetters !== undefined && isValid(readNumber(written.beforeLetters.trim(), planned))) {
    return unread(text, "not_a_number");
  }
  const reading = readNumber(written.number, planned);
  return typeof reading === "string" ? unread(text, reading) : result(text, written, reading);
}

/** What people dial to leave their country, where it is no prefix in the region: 00 by ITU-T E.123, 011. */
const EXIT_CODE = /^[^\d+]*0[^\d+]*(?:0|1[^\d+]*1)[^\d+]*(?=[1-9])/;
const DOUBLE_ZERO = /^[^\d+]*0[^\d+]*0/;
/** Russia and Kazakhstan dial 8~10; their calling code alone gives the library no country to take it from. */
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

/** The library writes a number for which it has no format as bare digits, with the extension behind them. */
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
