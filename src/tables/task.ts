import type { BatchKind } from "../batch/messages.ts";
import { DOCUMENT_TYPES, type DocumentType, SUMMARY_WORDS, UNCHECKED_WORDS } from "../contract/words.ts";

/** The check that every item gets. */
export type Task =
  | { readonly kind: "email"; readonly deep: boolean; readonly dns: boolean }
  /** Without a type it is detected. */
  | { readonly kind: "identity"; readonly type: DocumentType | null }
  | { readonly kind: "phone"; readonly country: string | null };

/** One result in the spelling of the API. */
export type Result = { readonly [field: string]: unknown };

/** The words of a kind of item on the command line. */
type KindWords = {
  /** The field that contains the item, in results and in NDJSON input. */
  readonly field: string;
  readonly plural: string;
  readonly statuses: readonly string[];
  /** Fields of a result in their order, without `field`. */
  readonly columns: readonly string[];
  /** Column names, reduced to letters and digits, that hold such items. */
  readonly columnNames: readonly string[];
  readonly looksLike: (cell: string) => boolean;
};

const hasDigits = (cell: string) => cell.replace(/\D/g, "").length >= 5;

export const KINDS: { readonly [kind in BatchKind]: KindWords } = {
  email: {
    field: "email",
    plural: "addresses",
    statuses: SUMMARY_WORDS.email,
    columns: [
      "status",
      "sub_status",
      "score",
      "normalized",
      "has_mx",
      "mx_hosts",
      "is_disposable",
      "is_role",
      "is_free_provider",
      "gibberish_score",
      "did_you_mean",
      "reasons",
    ],
    columnNames: ["email", "emails", "emailaddress", "mail", "mailaddress", "emailaddr"],
    looksLike: (cell) => cell.includes("@"),
  },
  identity: {
    field: "value",
    plural: "documents",
    statuses: SUMMARY_WORDS.identity,
    columns: [
      "type",
      "valid",
      "reason",
      "message",
      "normalized",
      "formatted",
      "country",
      "strength",
      "warnings",
      "data_version",
      "details",
    ],
    columnNames: [
      ...["value", "document", "documentnumber", "number", "taxid"],
      ...DOCUMENT_TYPES,
      ...["vatnumber", "vatid", "cardnumber", "ean", "gtin"],
    ],
    looksLike: hasDigits,
  },
  phone: {
    field: "phone",
    plural: "phone numbers",
    statuses: SUMMARY_WORDS.phone,
    columns: [
      "valid",
      "possible",
      "reason",
      "e164",
      "international",
      "national",
      "rfc3966",
      "country",
      "calling_code",
      "national_number",
      "extension",
      "is_non_geographic",
      "vanity",
      "type",
      "timezones",
      "original_carrier",
    ],
    columnNames: [
      "phone",
      "phones",
      "phonenumber",
      "telephone",
      "tel",
      "mobile",
      "mobilephone",
      "cell",
    ].concat(["cellphone", "whatsapp", "telefone", "celular", "telefon", "handy"]),
    looksLike: hasDigits,
  },
};

/** The further columns of a document whose type was detected. */
const DETECTION_COLUMNS = ["confidence", "candidates"];

/** Returns the fields of a result that become columns. */
export function resultColumns(task: Task): readonly string[] {
  const { columns } = KINDS[task.kind];
  return task.kind === "identity" && task.type === null ? [...columns, ...DETECTION_COLUMNS] : columns;
}

/** Returns the word by which a result is counted and filtered. */
export function statusOf(task: Task, result: Result): string {
  if (task.kind === "email") return String(result.status);
  return result.valid === true ? "valid" : "invalid";
}

/** Returns why a check failed through no fault of the item, or null: such items are worth a second run. */
export function uncheckedReason(task: Task, result: Result): string | null {
  const word = String(task.kind === "email" ? result.sub_status : result.reason);
  return UNCHECKED_WORDS.includes(word) ? word : null;
}
