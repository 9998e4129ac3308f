import type { DocumentType } from "../../contract/words.ts";
import type { ByteWriter } from "../../platform/byte-writer.ts";
import type { Finding, Outcome } from "./outcome.ts";

/**
 * Writes the parts of a number of its type's whole structure from the number itself: to create a slice and copy it
 * takes three times as long as to copy the part from its source.
 */
export type StretchWriter<T extends DocumentType> = {
  /** Writes the formatted form, which is not null. */
  readonly formatted: (compact: string, outcome: Outcome<T>, writer: ByteWriter) => void;
  /** Writes the fields of the details, from the first name to the last value. */
  readonly details: (compact: string, details: Outcome<T>["details"], writer: ByteWriter) => void;
};

/** The functions of a document type. All are pure and accept any text. */
export type DocumentCheck<T extends DocumentType> = {
  /** Removes the type's separators and folds case and width; null for a text that cannot be of the type. */
  readonly compact: (value: string) => string | null;
  readonly validate: (value: string) => Outcome<T>;
  /** Formats a compact number in the customary form, if `validate` accepts it. */
  readonly format: (compact: string) => string;
  /** The finding on a value that was not read. */
  readonly unread: Finding<T>;
  /** Writes results of a whole structure in less time; without it results are written field by field. */
  readonly stretches?: StretchWriter<T>;
};
