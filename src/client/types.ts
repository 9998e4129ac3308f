import type {
  DetectedDocument,
  DocumentResult,
  EmailResult,
  EmailSummary,
  PhoneResult,
  Plan,
  ValidSummary,
} from "./contract-types.ts";

/** Names for words and forms within the shapes of the contract. */

export type EmailStatus = EmailResult["status"];
export type EmailSubStatus = EmailResult["sub_status"];
export type DocumentType = DocumentResult["type"];
export type DocumentReason = NonNullable<DocumentResult["reason"]>;
export type PhoneReason = NonNullable<PhoneResult["reason"]>;
export type PhoneType = NonNullable<PhoneResult["type"]>;
export type PlanName = Plan["plan"];

/** A result of a batch of documents: detected where the item named no type. */
export type DocumentOutcome = DocumentResult | DetectedDocument;
/** What a batch cost. */
export type BatchCost = Pick<EmailSummary & ValidSummary, "duplicates" | "units_charged">;
