import type { DocumentType } from "../../contract/words.ts";
import type { ByteWriter } from "../../platform/byte-writer.ts";
import type { Finding, Outcome } from "./outcome.ts";

/**
 * Writes what stands within a number of its type's whole structure from the number itself: a text that was cut out of
 * it has to be made before it can be copied, which takes three times as long as to copy it from where it stands.
 */
export type StretchWriter<T extends DocumentType> = {
  /** Writes the formatted form, which is there. */
  readonly formatted: (compact: string, outcome: Outcome<T>, writer: ByteWriter) => void;
  /** Writes the fields of the details, from the first name to the last value. */
  readonly details: (compact: string, details: Outcome<T>["details"], writer: ByteWriter) => void;
};

/** One type of document by the verbs all of them share. All are pure and total. */
export type DocumentCheck<T extends DocumentType> = {
  /** Drops the type's separators and folds case and width; null where nothing of the type's can be read. */
  readonly compact: (value: string) => string | null;
  readonly validate: (value: string) => Outcome<T>;
  /** Writes a compact form as is customary. Meant for what `compact` and `validate` let through. */
  readonly format: (compact: string) => string;
  /** What is known of a number before it is read. */
  readonly unread: Finding<T>;
  /** Writes results of a whole structure in less time; a type without it is written field by field. */
  readonly stretches?: StretchWriter<T>;
};
