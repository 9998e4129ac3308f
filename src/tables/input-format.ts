import { parseJson } from "../platform/json-value.ts";
import { firstLineOf } from "./csv-form.ts";
import { TableError } from "./table-error.ts";

export const INPUT_FORMATS = ["csv", "text", "ndjson"] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** What is known of a file before it is read. */
export type NamedInput = {
  /** The name for messages. */
  readonly name: string;
  readonly path: string;
  /** Whether options are given that only CSV has. */
  readonly hasColumns: boolean;
};

const FIRST_LINE_CHARS = 65_536;

/**
 * Returns the format that the ending of the name shows, else the first line of a text that starts so. Throws a TableError
 * for a text that is one piece of JSON, whose lines are no items.
 */
export function inputFormatOf(input: NamedInput, start: string): InputFormat {
  const firstLine = firstLineOf(start).slice(0, FIRST_LINE_CHARS);
  const format = formatByName(input, firstLine) ?? formatByText(firstLine);
  if (format !== "ndjson" && isWholeJson(firstLine)) {
    throw new TableError(
      `${input.name} is one piece of JSON: write an item a line, as jq -c '.[]' does of a list, in a file whose name ends in .ndjson.`,
    );
  }
  return format;
}

function formatByName({ path, hasColumns }: NamedInput, firstLine: string): InputFormat | null {
  if (/\.(?:csv|tsv)$/i.test(path)) return "csv";
  if (/\.(?:ndjson|jsonl)$/i.test(path)) return "ndjson";
  // Only CSV has columns; an NDJSON field is named with --input-format ndjson.
  if (hasColumns) return "csv";
  // A spreadsheet's "Unicode text" is a .txt of cells between tabs; no item has a tab.
  return /\.(?:txt|list)$/i.test(path) && !firstLine.includes("\t") ? "text" : null;
}

/** No item has a comma, a semicolon or a tab, but nearly every CSV has one in its first line. */
function formatByText(firstLine: string): InputFormat {
  if (/^[{"].*[}"]$/.test(firstLine.trim()) && parseJson(firstLine) !== undefined) return "ndjson";
  return /[,;\t]|^"?sep=/i.test(firstLine) ? "csv" : "text";
}

/** Whether a list or an object begins that ends elsewhere, or is a list of strings or objects: no item begins so. */
function isWholeJson(firstLine: string): boolean {
  return /^(?:\{$|\[\s*(?:$|[{"\]]))/.test(firstLine.trim());
}
