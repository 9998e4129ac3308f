/** What the page and the thread that reads a list say to each other. */

export type ListKind = "email" | "identity" | "phone";
export type ListForm = "csv" | "text" | "ndjson";

export type ReadRequest = {
  readonly file: File;
  readonly kind: ListKind;
  readonly form: ListForm;
  /** A number from 1; null where it is to be found. */
  readonly column: number | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
};

export type Preview = {
  readonly delimiter: string | null;
  readonly columns: readonly string[];
  readonly hasHeader: boolean;
  /** From 1; null where no column stands out. */
  readonly column: number | null;
  readonly rows: readonly (readonly string[])[];
};

export type ReadReport =
  | { readonly type: "preview"; readonly preview: Preview }
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "counted"; readonly rows: number; readonly distinct: number }
  | { readonly type: "failed"; readonly message: string };

export function formOf(name: string): ListForm {
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return "ndjson";
  return /\.txt$/i.test(name) ? "text" : "csv";
}
