import type { PhoneResultBody } from "../../contract/specification/verification/phone-replies.ts";
import type { PhoneReason } from "../../contract/words.ts";

/** The result for a phone number, in wire spelling, as the worker threads serialise it. */
export type PhoneResult = PhoneResultBody;

/**
 * Where a number without international prefix is dialled: in a country, or in any country of a calling code. Created by
 * `readCountry` only; plain data, as it crosses threads.
 */
export type PhoneRegion = { readonly country: string } | { readonly callingCode: string };

/** Returns the result for a text from which no number could be parsed. */
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

/** Returns the result of a check that failed, which is not charged. */
export function checkFailed(phone: string): PhoneResult {
  return unread(phone, "check_failed");
}
