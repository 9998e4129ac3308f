import type { BatchKind } from "../batch/messages.ts";
import { parseJson } from "../platform/json-value.ts";
import type { ColumnOptions } from "../tables/column.ts";
import { firstLineOf } from "../tables/csv-form.ts";
import { csvRows } from "../tables/csv-rows.ts";
import { LINE_CHARS_MAX, ndjsonRows, type Rows, textRows } from "../tables/rows.ts";
import { TableError } from "../tables/table-error.ts";
import { KINDS } from "../tables/task.ts";
import type { TextForm } from "../tables/text-form.ts";
import { CliError, EXIT } from "./failure.ts";
import type { Source } from "./source.ts";

export const INPUT_FORMATS = ["csv", "text", "ndjson"] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** The options of the input. */
export type InputOptions = ColumnOptions & {
  readonly path: string;
  /** Undefined: by the name's ending, or by the first line. */
  readonly format: InputFormat | undefined;
  readonly encoding: string | undefined;
};

const FIRST_LINE_CHARS = 65_536;

export type Input = Rows & { readonly format: InputFormat; readonly textForm: TextForm };

/** Reads the rows of a source in the form that is named, else that its file name shows, else that its first line shows. */
export async function openRows(source: Source, kind: BatchKind, options: InputOptions): Promise<Input> {
  const pieces = source.text[Symbol.asyncIterator]();
  const start = await readStart(pieces);
  const text = startingWith(start, pieces);
  const firstLine = firstLineOf(start).slice(0, FIRST_LINE_CHARS);
  const format = options.format ?? formatByName(options, firstLine) ?? formatByText(firstLine);
  if (options.format === undefined && format !== "ndjson" && isWholeJson(firstLine)) {
    throw new CliError(
      `${source.name} is one piece of JSON: write an item a line, as jq -c '.[]' does of a list, in a file whose name ends in .ndjson.`,
    );
  }
  const textForm: TextForm = {
    ...source.encoding(),
    lineEnd: /\r?\n/.exec(start)?.[0] === "\r\n" ? "\r\n" : "\n",
  };
  try {
    const rows = await rowsOf(format, { name: source.name, text, start, kind, options });
    return { format, textForm, ...rows, runs: withCliErrors(rows.runs) };
  } catch (error) {
    throw asCliError(error);
  }
}

async function* withCliErrors<Run>(runs: AsyncIterable<Run>): AsyncGenerator<Run, void, undefined> {
  try {
    yield* runs;
  } catch (error) {
    throw asCliError(error);
  }
}

function asCliError(error: unknown): unknown {
  return error instanceof TableError ? new CliError(error.message, EXIT.badInput, { cause: error }) : error;
}

type RowSource = {
  readonly name: string;
  readonly text: AsyncIterable<string>;
  readonly start: string;
  readonly kind: BatchKind;
  readonly options: InputOptions;
};

async function rowsOf(format: InputFormat, { name, text, start, kind, options }: RowSource): Promise<Rows> {
  switch (format) {
    case "csv":
      return csvRows(name, text, { start, kind, options });
    case "ndjson":
      return ndjsonRows(name, text, options.column ?? KINDS[kind].field);
    case "text":
      return textRows(name, text);
  }
}

function formatByName({ path, column, header }: InputOptions, firstLine: string): InputFormat | null {
  if (/\.(?:csv|tsv)$/i.test(path)) return "csv";
  if (/\.(?:ndjson|jsonl)$/i.test(path)) return "ndjson";
  // Only CSV has columns; an NDJSON field is named with --input-format ndjson.
  if (column !== undefined || header !== undefined) return "csv";
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

/** Text that holds the whole first line, unless that is longer than a line may be. */
async function readStart(pieces: AsyncIterator<string>): Promise<string> {
  let start = "";
  let hasBegun = false;
  let hasLineEnd = false;
  while (start.length <= LINE_CHARS_MAX && !hasLineEnd) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    start += value;
    const visible: string = hasBegun ? value : value.trimStart();
    hasBegun ||= visible !== "";
    hasLineEnd = visible.includes("\n");
  }
  return start;
}

async function* startingWith(start: string, pieces: AsyncIterator<string>): AsyncGenerator<string> {
  yield start;
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) return;
    yield value;
  }
}
