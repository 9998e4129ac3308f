import type { PhoneReason, PhoneType } from "../../contract/words.ts";
import { internationalForm, nationalForm } from "./number-format.ts";
import { type PhoneRegion, type PhoneResult, unread } from "./phone-number.ts";
import { type PlainNumber, readPlainNumber } from "./plain-number.ts";
import { formatIn, typeIn } from "./plan-label.ts";
import { type PlanReading, readByPlan } from "./plan-reading.ts";
import { formatOf, mainPlan, type NumberingPlan, numberingPlans } from "./plans.ts";
import { originalCarrierOf, timezonesOf } from "./prefixes.ts";

/** Exit codes of other countries, which the library tries for a number that is invalid as written. */
const EXIT_CODE = /^0(?:0|11)[1-9]/;
const EXIT_CODE_OF_7 = /^810[1-9]/;

/** The verdict of the numbering plans: why no number could be parsed, or its parts, and the type of a valid one. */
export type PlainVerdict =
  | PhoneReason
  | { readonly reading: PlanReading; readonly type: PhoneType | undefined };

/**
 * Verifies a number in the usual form of lists by the compiled numbering plans. Undefined where only the library can
 * decide.
 */
export function verifyPlain(text: string, region: PhoneRegion | undefined): PlainVerdict | undefined {
  const number = readPlainNumber(text);
  if (number === undefined) return undefined;
  const reading = readByPlan(number, region, numberingPlans());
  if (typeof reading === "string") return mayHaveExitCode(number) ? undefined : reading;
  const type = typeIn(reading.label);
  return type === undefined && mayHaveExitCode(number) ? undefined : { reading, type };
}

/** Returns the same result as the library does; undefined where only the library can decide. */
export function validatePlain(text: string, region: PhoneRegion | undefined): PhoneResult | undefined {
  const verdict = verifyPlain(text, region);
  return verdict === undefined ? undefined : plainResult(text, verdict);
}

function mayHaveExitCode({ digits, isInternational }: PlainNumber): boolean {
  return !isInternational && (EXIT_CODE.test(digits) || EXIT_CODE_OF_7.test(digits));
}

/** Returns the result for a number with this verdict. */
export function plainResult(phone: string, verdict: PlainVerdict): PhoneResult {
  if (typeof verdict === "string") return unread(phone, verdict);
  const { reading, type } = verdict;
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
    timezones: type === undefined ? [] : timezonesOf(digits, callingCode, type).list,
    original_carrier: type === undefined ? null : originalCarrierOf(digits, country, type),
  };
}

function hasLength({ lengths }: NumberingPlan, length: number): boolean {
  return ((lengths >> length) & 1) === 1;
}

/** Returns why the main plan of the calling code has no number of this length. */
function lengthFault(plan: NumberingPlan, length: number): PhoneReason {
  const { shortest, longest } = mainPlan(plan);
  if (length < shortest) return "too_short";
  return length > longest ? "too_long" : "invalid_length";
}
