import { card } from "./card.ts";
import { maskText } from "./card-mask.ts";
import { cnpj } from "./cnpj.ts";
import { cpf } from "./cpf.ts";
import { ean13 } from "./ean13.ts";
import { ein } from "./ein.ts";
import { iban } from "./iban.ts";
import { isbn } from "./isbn.ts";
import {
  type AutodetectResult,
  type DocumentCheck,
  type DocumentType,
  failed,
  type IdentityResult,
  undetected,
} from "./outcome.ts";
import { vat } from "./vat.ts";

/** Every type of document there is. */
export const documents: { readonly [T in DocumentType]: DocumentCheck<T> } = {
  cpf,
  cnpj,
  iban,
  vat,
  card,
  isbn,
  ean13,
  ein,
};

export const DOCUMENT_TYPES = Object.keys(documents) as readonly DocumentType[];

/** True for exactly the names of `DOCUMENT_TYPES`. */
export function isDocumentType(text: string): text is DocumentType {
  return Object.hasOwn(documents, text);
}

/**
 * Judges a value as a document of the type. Any text is answered: what is wrong with it stands in the result.
 * A number that only a card can have is masked even where another type was asked for.
 */
export function validateDocument(type: DocumentType, value: string): IdentityResult {
  const result = documents[type].validate(value);
  return result.valid || type === "card" ? result : withoutCardNumber(result);
}

/** More digits than any other type has, so that a number of them is nothing but a card's. */
const CARD_ONLY_DIGITS_MIN = 15;

function withoutCardNumber(result: IdentityResult): IdentityResult {
  const digits = card.compact(result.value);
  if (digits === null || digits.length < CARD_ONLY_DIGITS_MIN) return result;
  const { valid, value } = card.validate(digits);
  return valid ? { ...result, value, normalized: value } : result;
}

/** The result where our own check broke: nothing is known, and a card number stays masked. */
export function checkFailed(type: DocumentType, value: string): IdentityResult;
export function checkFailed(type: null, value: string): AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult {
  const message = "The check could not be carried out; try again.";
  if (type !== null) return unchecked(type, type === "card" ? maskText(value) : value, message);
  const nothing = undetected(maskText(value), "check_failed", message);
  return { ...nothing, detected: null, confidence: 0, candidates: [] };
}

function unchecked<T extends DocumentType>(type: T, value: string, message: string): IdentityResult {
  const { unread }: DocumentCheck<T> = documents[type];
  // A type argument that is a union keeps the compiler from seeing that the parts belong together.
  return failed(type, value, "check_failed", message, unread) as unknown as IdentityResult;
}
