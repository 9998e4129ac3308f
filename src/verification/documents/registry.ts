import type { DocumentType, IdentityReason } from "../../contract/words.ts";
import { documents } from "./all-documents.ts";
import { withoutCardNumber } from "./card-hiding.ts";
import { MASKED_DIGITS_MIN, maskCardNumber } from "./card-mask.ts";
import { isWholeCardNumber, mayHoldCardNumber } from "./card-search.ts";
import { type AutodetectResult, failed, type IdentityResult, undetected } from "./outcome.ts";

/**
 * Validates a value as a document of the type. Accepts any text: what is wrong with it is in the result. A card number
 * is masked even where another type was requested.
 */
export function validateDocument(type: DocumentType, value: string): IdentityResult {
  const result = documents[type].validate(value);
  if (result.valid || type === "card") return result;
  const shown = shownValue(result);
  const { reason, message } = result;
  return shown === value ? result : unread(type, shown, reason ?? "format", message ?? "");
}

/**
 * Returns the value, with a card number masked that was given for the document by mistake. A value of its type's whole
 * structure, which has a formatted form, is not taken for one, whatever its Luhn sum.
 */
function shownValue({ type, value, formatted }: IdentityResult): string {
  if (formatted !== null || !mayHoldCardNumber(value)) return value;
  // Groups of four behind a country's letters are more likely a mistyped IBAN.
  if ((type !== "iban" && type !== "vat") || !/\p{L}/u.test(value)) return withoutCardNumber(value);
  return isWholeCardNumber(value) ? maskCardNumber(value) : value;
}

/** Returns the result of a check that failed, in which a card number is masked, too. */
export function checkFailed(type: DocumentType, value: string): IdentityResult;
export function checkFailed(type: null, value: string): AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult {
  const message = "The check could not be carried out; try again.";
  if (type !== null) {
    const shown = type === "card" ? maskCardNumber(value, MASKED_DIGITS_MIN) : withoutCardNumber(value);
    return unread(type, shown, "check_failed", message);
  }
  const nothing = undetected(maskCardNumber(value), { reason: "check_failed", message });
  return { ...nothing, detected: null, confidence: 0, candidates: [] };
}

function unread<T extends DocumentType>(
  type: T,
  value: string,
  reason: IdentityReason,
  message: string,
): IdentityResult {
  const finding = documents[type].unread;
  // Where the type argument is a union, the compiler cannot see that type and finding belong together.
  return failed(type, value, reason, message, finding) as unknown as IdentityResult;
}
