import type { PhoneReason, PhoneType } from "../../contract/words.ts";
import { internationalForm, nationalForm } from "./number-format.ts";
import { type PhoneRegion, type PhoneResult, unread } from "./phone-number.ts";
import { type PlainNumber, readPlainNumber } from "./plain-number.ts";
import { formatIn, typeIn } from "./plan-label.ts";
import { type PlanReading, readByPlan } from "./plan-reading.ts";
import { formatOf, mainPlan, type NumberingPlan, numberingPlans } from "./plans.ts";
import { originalCarrierOf, timezonesOf } from "./prefixes.ts";

/** Exit codes that are tried for a number which is not valid as it stands. */
const EXIT_CODE = /^0(?:0|11)[1-9]/;
const EXIT_CODE_OF_7 = /^810[1-9]/;

/**
 * Judges a number in the form that lists hold, by the compiled numbering plans. The result is the library's
 * in every field. Undefined where only the library can decide.
 */
export function validatePlain(text: string, region: PhoneRegion | undefined): PhoneResult | undefined {
  const number = readPlainNumber(text);
  if (number === undefined) return undefined;
  const reading = readByPlan(number, region, numberingPlans());
  if (typeof reading === "string") return mayLeaveTheCountry(number) ? undefined : unread(text, reading);
  const type = typeIn(reading.label);
  if (type === undefined && mayLeaveTheCountry(number)) return undefined;
  return result(text, reading, type);
}

function mayLeaveTheCountry({ digits, isInternational }: PlainNumber): boolean {
  return !isInternational && (EXIT_CODE.test(digits) || EXIT_CODE_OF_7.test(digits));
}

function result(phone: string, reading: PlanReading, type: PhoneType | undefined): PhoneResult {
  const { plan, country, nationalNumber } = reading;
  const callingCode = plan.callingCode.digits;
  const digits = callingCode + nationalNumber;
  const valid = type !== undefined;
  const possible = valid || hasLength(plan, nationalNumber.length);
  const isNonGeographic = plan.country === undefined;
  const format = formatOf(plan, formatIn(reading.label));
  return {
    phone,
    valid,
    possible,
    reason: valid ? null : possible ? "invalid_number" : lengthFault(plan, nationalNumber.length),
    e164: possible ? `+${digits}` : null,
    international: possible ? `+${callingCode} ${internationalForm(nationalNumber, format)}` : null,
    national: possible ? nationalForm(nationalNumber, format) : null,
    rfc3966: possible ? `tel:+${digits}` : null,
    country: isNonGeographic ? "001" : (country ?? null),
    calling_code: callingCode,
    national_number: nationalNumber,
    extension: null,
    is_non_geographic: isNonGeographic,
    vanity: false,
    type: type ?? null,
    timezones: type === undefined ? [] : timezonesOf(digits, callingCode, type),
    original_carrier: type === undefined ? null : originalCarrierOf(digits, country, type),
  };
}

function hasLength({ lengths }: NumberingPlan, length: number): boolean {
  return ((lengths >> length) & 1) === 1;
}

/** Why the length is none that the main plan of the calling code uses. */
function lengthFault(plan: NumberingPlan, length: number): PhoneReason {
  const { shortest, longest } = mainPlan(plan);
  if (length < shortest) return "too_short";
  return length > longest ? "too_long" : "invalid_length";
}
