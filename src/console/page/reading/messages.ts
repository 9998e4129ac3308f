import type { InputFormat } from "../../../tables/input-format.ts";

/** The messages between the page and the thread that reads a list. */

export type ListKind = "email" | "identity" | "phone";

export type ReadRequest = {
  readonly file: File;
  readonly kind: ListKind;
  /** From 1; null to detect it. */
  readonly column: number | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
};

export type Preview = {
  readonly form: InputFormat;
  readonly delimiter: string | null;
  readonly columns: readonly string[];
  readonly hasHeader: boolean;
  /** From 1; null where none was detected. */
  readonly column: number | null;
  readonly rows: readonly (readonly string[])[];
};

export type ReadReport =
  | { readonly type: "preview"; readonly preview: Preview }
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "counted"; readonly rows: number; readonly distinct: number }
  | { readonly type: "failed"; readonly message: string };
