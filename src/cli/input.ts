import type { BatchKind } from "../batch/messages.ts";
import type { ColumnWish } from "./column.ts";
import { csvRows } from "./csv-rows.ts";
import { ndjsonRows, type Rows, textRows } from "./rows.ts";
import type { Source } from "./source.ts";
import { KINDS } from "./task.ts";

export type InputFormat = "csv" | "text" | "ndjson";

export const INPUT_FORMATS: readonly InputFormat[] = ["csv", "text", "ndjson"];

/** What the command line says about the input. */
export type InputWish = ColumnWish & {
  readonly path: string;
  /** Undefined: by the name's ending, or by the first line. */
  readonly format: InputFormat | undefined;
  readonly encoding: string | undefined;
};

const FIRST_LINE_CHARS = 65_536;

export type Input = Rows & { readonly format: InputFormat };

/** Reads the rows of a source in the form that is named, that its name tells, or that its first line tells. */
export async function openRows(source: Source, kind: BatchKind, wish: InputWish): Promise<Input> {
  const pieces = source.text[Symbol.asyncIterator]();
  const start = await readStart(pieces);
  const text = startingWith(start, pieces);
  const firstLine = start.trimStart().slice(0, FIRST_LINE_CHARS).split(/\r?\n/, 1)[0] ?? "";
  const format = wish.format ?? formatByName(wish) ?? formatByText(firstLine);
  switch (format) {
    case "csv":
      return { format, ...(await csvRows(source.name, text, { firstLine, kind, wish })) };
    case "ndjson":
      return { format, ...(await ndjsonRows(source.name, text, wish.column ?? KINDS[kind].field)) };
    case "text":
      return { format, ...textRows(source.name, text) };
  }
}

function formatByName({ path, column, header }: InputWish): InputFormat | null {
  if (/\.(?:csv|tsv)$/i.test(path)) return "csv";
  if (/\.(?:ndjson|jsonl)$/i.test(path)) return "ndjson";
  // Only CSV has columns; an NDJSON field is named with --input-format ndjson.
  if (column !== undefined || header !== undefined) return "csv";
  return /\.(?:txt|list)$/i.test(path) ? "text" : null;
}

/** No item has a comma, a semicolon or a tab, but nearly every CSV has one in its first line. */
function formatByText(firstLine: string): InputFormat {
  if (/^[{"].*[}"]$/.test(firstLine.trim()) && parsesAsJson(firstLine)) return "ndjson";
  return /[,;\t]/.test(firstLine) ? "csv" : "text";
}

function parsesAsJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Text that holds the whole first line, unless that is very long. */
async function readStart(pieces: AsyncIterator<string>): Promise<string> {
  let start = "";
  while (start.length < FIRST_LINE_CHARS && !start.trimStart().includes("\n")) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    start += value;
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
