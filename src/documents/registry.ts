import { card } from "./card.ts";
import { digitRunsIn, maskCardNumber } from "./card-mask.ts";
import { luhnRemainder } from "./checksums/luhn.ts";
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
  type IdentityReason,
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
 * A card number is masked even where another type was asked for.
 */
export function validateDocument(type: DocumentType, value: string): IdentityResult {
  const result = documents[type].validate(value);
  return result.valid || type === "card" || !hidesCardNumber(result) ? result : masked(result);
}

/** Shorter runs of digits may well be what was asked for, mistyped. */
const CARD_RUN_MIN = 14;
const CARD_RUN_MAX = 19;

/** What has its type's whole structure was formatted, and is not taken for a card number whatever its Luhn sum. */
function hidesCardNumber({ value, formatted }: IdentityResult): boolean {
  return formatted === null && holdsCardNumber(value);
}

/** The text, masked where a stretch of its digits is the number of a card of a known brand. */
export function withoutCardNumber(text: string): string {
  return holdsCardNumber(text) ? maskCardNumber(text) : text;
}

function holdsCardNumber(text: string): boolean {
  if (text.length < CARD_RUN_MIN) return false;
  return digitRunsIn(text).some((run) => {
    if (run.length < CARD_RUN_MIN || run.length > CARD_RUN_MAX) return false;
    // Of a brand's other lengths some may have been issued, so the length is not asked for.
    return luhnRemainder(run) === 0 && card.validate(run).details.brand !== null;
  });
}

function masked({ type, value, reason, message }: IdentityResult): IdentityResult {
  return unread(type, maskCardNumber(value), reason ?? "format", message ?? "");
}

/** The result where our own check broke: nothing is known, and a card number stays masked. */
export function checkFailed(type: DocumentType, value: string): IdentityResult;
export function checkFailed(type: null, value: string): AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult;
export function checkFailed(type: DocumentType | null, value: string): IdentityResult | AutodetectResult {
  const message = "The check could not be carried out; try again.";
  if (type !== null)
    return unread(type, type === "card" ? maskCardNumber(value) : value, "check_failed", message);
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
