import type { BatchKind } from "../batch/messages.ts";
import type { ColumnOptions } from "../tables/column.ts";
import { csvRows } from "../tables/csv-rows.ts";
import { type InputFormat, inputFormatOf } from "../tables/input-format.ts";
import { LINE_CHARS_MAX, ndjsonRows, type Rows, textRows } from "../tables/rows.ts";
import { TableError } from "../tables/table-error.ts";
import { KINDS } from "../tables/task.ts";
import type { TextForm } from "../tables/text-form.ts";
import { CliError, EXIT } from "./failure.ts";
import type { Source } from "./source.ts";

/** The options of the input. */
export type InputOptions = ColumnOptions & {
  readonly path: string;
  /** Undefined: by the name's ending, or by the first line. */
  readonly format: InputFormat | undefined;
  readonly encoding: string | undefined;
};

export type Input = Rows & { readonly format: InputFormat; readonly textForm: TextForm };

/** Reads the rows of a source in the form that is named, else that its file name shows, else that its first line shows. */
export async function openRows(source: Source, kind: BatchKind, options: InputOptions): Promise<Input> {
  const pieces = source.text[Symbol.asyncIterator]();
  const start = await readStart(pieces);
  const text = startingWith(start, pieces);
  const textForm: TextForm = {
    ...source.encoding(),
    lineEnd: /\r?\n/.exec(start)?.[0] === "\r\n" ? "\r\n" : "\n",
  };
  try {
    const { path, column, header } = options;
    const hasColumns = column !== undefined || header !== undefined;
    const format = options.format ?? inputFormatOf({ name: source.name, path, hasColumns }, start);
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
