import type { DocumentType, IdentityReason } from "../../contract/words.ts";
import { documents } from "./all-documents.ts";
import { withoutCardNumber } from "./card-hiding.ts";
import { MASKED_DIGITS_MIN, maskCardNumber } from "./card-mask.ts";
import { isWholeCardNumber, mayHoldCardNumber } from "./card-search.ts";
import { type AutodetectResult, failed, type IdentityResult, undetected } from "./outcome.ts";

/**
 * Verifies a value as a document of the type. Takes any text: what is wrong with it is in the result.
 * A card number is masked even where another type was asked for.
 */
export function validateDocument(type: DocumentType, value: string): IdentityResult {
  const result = documents[type].validate(value);
  if (result.valid || type === "card") return result;
  const shown = shownValue(result);
  const { reason, message } = result;
  return shown === value ? result : unread(type, shown, reason ?? "format", message ?? "");
}

/**
 * The value, without a card number that was given for the document by mistake. What has its type's whole structure
 * was formatted, and is not taken for one whatever its Luhn sum.
 */
function shownValue({ type, value, formatted }: IdentityResult): string {
  if (formatted !== null || !mayHoldCardNumber(value)) return value;
  // Groups of four behind a country's letters are rather an account, mistyped.
  if ((type !== "iban" && type !== "vat") || !/\p{L}/u.test(value)) return withoutCardNumber(value);
  return isWholeCardNumber(value) ? maskCardNumber(value) : value;
}

/** The result where our own check broke: nothing is known, and a card number stays masked. */
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
  // A type argument that may be a union keeps the compiler from seeing that the parts belong together.
  return failed(type, value, reason, message, finding) as unknown as IdentityResult;
}
