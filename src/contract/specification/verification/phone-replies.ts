import { Type } from "@sinclair/typebox";
import { PHONE_REASONS, PHONE_TYPES } from "../../words.ts";
import { type Body, text, textOrNull, wordOrNull } from "../reply-schema.ts";
import { batchOf, ValidSummary } from "./batch-replies.ts";

/** The verdict on one phone number. */
export const PhoneResult = Type.Object(
  {
    phone: text("The number as given."),
    valid: Type.Boolean({ description: "The number lies in a range that its numbering plan assigns." }),
    possible: Type.Boolean({ description: "The number has a length that its numbering plan uses." }),
    reason: wordOrNull(PHONE_REASONS, "Why the number is not valid; null where it is."),
    e164: textOrNull("The number with its international prefix, without spaces.", "+5511987654321"),
    international: textOrNull("As it is written for callers from abroad."),
    national: textOrNull("As it is written for callers within the country."),
    rfc3966: textOrNull("As a `tel:` address, with its extension."),
    country: textOrNull(
      "ISO 3166 alpha-2, `001` for a number of no country, null where several countries share the plan.",
      "BR",
    ),
    calling_code: textOrNull("Without the plus sign.", "55"),
    national_number: textOrNull("The digits behind the calling code."),
    extension: textOrNull("The digits of an extension that was given with the number."),
    is_non_geographic: Type.Boolean({ description: "The number belongs to no country." }),
    vanity: Type.Boolean({ description: "Letters were read as a telephone keypad." }),
    type: wordOrNull(PHONE_TYPES, "What the number's range is assigned to."),
    timezones: Type.Array(Type.String(), { description: "Where the number's area lies, IANA names." }),
    original_carrier: textOrNull(
      "The carrier of the original allocation; numbers may have moved to another since.",
    ),
  },
  { $id: "PhoneResult" },
);

export const PhoneBatch = batchOf("PhoneBatch", PhoneResult, ValidSummary);
export type PhoneResultBody = Body<typeof PhoneResult>;
