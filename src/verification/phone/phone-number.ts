import type { PhoneResultBody } from "../../contract/specification/phone-replies.ts";
import type { PhoneReason } from "../../contract/words.ts";
/** The verdict on one phone number. Spelled as on the wire, because the worker threads write it out as text. */
export type PhoneResult = PhoneResultBody;

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
