/** One phone number, judged. Spelled as on the wire, because the worker threads write it out as text. */
export type PhoneResult = {
  /** As given. */
  readonly phone: string;
  /** The number lies in a range that its numbering plan assigns. */
  readonly valid: boolean;
  /** The number has a length that its numbering plan uses. */
  readonly possible: boolean;
  readonly reason: PhoneReason | null;
  readonly e164: string | null;
  readonly international: string | null;
  readonly national: string | null;
  readonly rfc3966: string | null;
  /** ISO 3166 alpha-2, `001` for a number of no country, null where several countries share the plan. */
  readonly country: string | null;
  readonly calling_code: string | null;
  readonly national_number: string | null;
  readonly extension: string | null;
  readonly is_non_geographic: boolean;
  /** Letters were read as a telephone keypad. */
  readonly vanity: boolean;
  readonly type: PhoneType | null;
  readonly timezones: readonly string[];
  /** The carrier of the original allocation; null where numbers move between carriers. */
  readonly original_carrier: string | null;
};

export const PHONE_REASONS = [
  "not_a_number",
  "too_short",
  "too_long",
  "invalid_length",
  "invalid_country",
  "invalid_number",
  "check_failed",
] as const;

export type PhoneReason = (typeof PHONE_REASONS)[number];

export const PHONE_TYPES = [
  "mobile",
  "fixed_line",
  "fixed_line_or_mobile",
  "toll_free",
  "premium_rate",
  "shared_cost",
  "voip",
  "personal_number",
  "pager",
  "uan",
  "voicemail",
] as const;

export type PhoneType = (typeof PHONE_TYPES)[number];

/**
 * Where a number without international prefix is dialled: a country, or every country of a calling code.
 * Made by `readCountry` only; plain data, so that it may cross a thread.
 */
export type PhoneRegion = { readonly country: string } | { readonly callingCode: string };

/** The result of a number of which nothing could be read. */
export function unread(phone: string, reason: PhoneReason): PhoneResult {
  return {
    phone,
    valid: false,
    possible: false,
    reason,
    e164: null,
    international: null,
    national: null,
    rfc3966: null,
    country: null,
    calling_code: null,
    national_number: null,
    extension: null,
    is_non_geographic: false,
    vanity: false,
    type: null,
    timezones: [],
    original_carrier: null,
  };
}

/** The result where the check itself broke. It is not charged. */
export function checkFailed(phone: string): PhoneResult {
  return unread(phone, "check_failed");
}
