import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  ParseError,
  type PhoneNumber,
  parsePhoneNumberWithError,
} from "libphonenumber-js/max";
import type { PhoneReason, PhoneType } from "../../contract/words.ts";
import type { PhoneRegion } from "./phone-number.ts";

/** The metadata's release, with the date of the prefix tables. */
export const PHONE_DATA_VERSION = "libphonenumber-js 1.13.16, prefixes 2026-07-17";

/** A number, parsed by the numbering plan of its calling code. */
export type Reading = {
  readonly number: PhoneNumber;
  /** Undefined for an invalid number, which is in no range of the plan. */
  readonly type: PhoneType | undefined;
};

const TYPES: Record<NonNullable<ReturnType<PhoneNumber["getType"]>>, PhoneType> = {
  MOBILE: "mobile",
  FIXED_LINE: "fixed_line",
  FIXED_LINE_OR_MOBILE: "fixed_line_or_mobile",
  TOLL_FREE: "toll_free",
  PREMIUM_RATE: "premium_rate",
  SHARED_COST: "shared_cost",
  VOIP: "voip",
  PERSONAL_NUMBER: "personal_number",
  PAGER: "pager",
  UAN: "uan",
  VOICEMAIL: "voicemail",
};

const REASONS: Readonly<Record<string, PhoneReason>> = {
  NOT_A_NUMBER: "not_a_number",
  INVALID_COUNTRY: "invalid_country",
  TOO_SHORT: "too_short",
  TOO_LONG: "too_long",
  INVALID_LENGTH: "invalid_length",
};

/**
 * Parses a text of digits and punctuation, with or without a leading `+`.
 * A text without international prefix needs the region, or is `invalid_country`.
 */
export function parseNumber(text: string, region: PhoneRegion | undefined): Reading | PhoneReason {
  try {
    const number = parsePhoneNumberWithError(text, optionsOf(region));
    return { number, type: typeOf(number) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return REASONS[error.message] ?? "not_a_number";
  }
}

/** Returns the type. In a plan without mobile numbers (Tristan da Cunha's) the library takes fixed lines for either. */
function typeOf(number: PhoneNumber): PhoneType | undefined {
  const type = number.getType();
  if (type === "FIXED_LINE_OR_MOBILE" && number.country !== undefined && !hasMobiles(number.country)) {
    return "fixed_line";
  }
  return type && TYPES[type];
}

function hasMobiles(country: CountryCode): boolean {
  // The declared type of a plan lacks this method.
  const plan = planOf(country) as { readonly type?: (name: "MOBILE") => unknown } | undefined;
  return plan?.type?.("MOBILE") !== undefined;
}

/** Returns why the plan has no number of this length. */
export function lengthFault(number: PhoneNumber): PhoneReason {
  const lengths = planOf(number.countryCallingCode)?.possibleLengths() ?? [];
  const length = number.nationalNumber.length;
  if (length < Math.min(...lengths)) return "too_short";
  return length > Math.max(...lengths) ? "too_long" : "invalid_length";
}

/** Returns whether a text is the ISO 3166 code, in capitals, of a country with a numbering plan. */
export function isCountry(code: string): boolean {
  return code.length === 2 && isSupportedCountry(code);
}

/** Returns whether a calling code is in use, geographic or not. */
export function isCallingCode(digits: string): boolean {
  return /^[1-9]\d{0,2}$/.test(digits) && planOf(digits) !== undefined;
}

/** Returns the countries that share a calling code; empty for a non-geographic one. */
export function countriesOf(callingCode: string): string[] {
  return getCountries().filter((country) => getCountryCallingCode(country) === callingCode);
}

function planOf(callingCode: string) {
  const metadata = new Metadata();
  try {
    // It accepts calling codes as well as countries; its declared type has countries only.
    metadata.selectNumberingPlan(callingCode as CountryCode);
  } catch {
    return undefined;
  }
  return metadata.numberingPlan;
}

function optionsOf(region: PhoneRegion | undefined) {
  if (region === undefined) return { extract: false };
  if ("country" in region) return { extract: false, defaultCountry: region.country as CountryCode };
  return { extract: false, defaultCallingCode: region.callingCode };
}
