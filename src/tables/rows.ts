import { isObject, type JsonObject, parseJson } from "../platform/json-value.ts";
import { TableError } from "./table-error.ts";

/** An item to check, with the cells or the object that contain it. */
export type Row = { readonly item: string; readonly original: Original };

export type Original = readonly string[] | JsonObject | null;

/** The rows of an input, streamed in runs of any length. */
export type Rows = {
  /** The names of the original columns; null without columns. */
  readonly columns: readonly string[] | null;
  readonly delimiter: string;
  /** The line `sep=;` of a CSV with its line end; empty if it is missing. */
  readonly hint: string;
  readonly runs: AsyncIterable<readonly Row[]>;
  /** The column that contains the items; null without columns. */
  readonly chosen: ChosenColumn | null;
  /** Of NDJSON only. */
  readonly fields?: ObjectFields;
};

export type ObjectFields = {
  /** The field that contains the items. */
  readonly item: string;
  /** Returns fields of the rows read so far that `columns` lacks, at most `FIELDS_NOTED_MAX`. */
  readonly withoutColumn: () => readonly string[];
};

export const FIELDS_NOTED_MAX = 20;

/** Counted from 1; `header` is null where the file has no header. */
export type ChosenColumn = { readonly number: number; readonly header: string | null };

/** The longest line that is accepted. */
export const LINE_CHARS_MAX = 1_048_576;

/** Splits text into lines at LF or CR LF. Blank lines are skipped, but counted. */
export async function* linesOf(
  name: string,
  text: AsyncIterable<string>,
): AsyncGenerator<readonly { readonly line: string; readonly number: number }[], void, undefined> {
  let rest = "";
  let number = 0;
  const numbered = (line: string) => {
    number += 1;
    return { line: line.endsWith("\r") ? line.slice(0, -1) : line, number };
  };
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_CHARS_MAX) {
      throw new TableError(
        `${name}: line ${number + lines.length + 1} is longer than ${LINE_CHARS_MAX} characters.`,
      );
    }
    yield lines.map(numbered).filter(isNotBlank);
  }
  yield [numbered(rest)].filter(isNotBlank);
}

function isNotBlank({ line }: { readonly line: string }): boolean {
  return line.trim() !== "";
}

/** Reads one item per line. */
export function textRows(name: string, text: AsyncIterable<string>): Rows {
  async function* runs() {
    for await (const lines of linesOf(name, text))
      yield lines.map(({ line }) => ({ item: line, original: null }));
  }
  return { columns: null, delimiter: ",", hint: "", runs: runs(), chosen: null };
}

/**
 * Reads a JSON string from each line, or an object with the item in `field`; its other fields are kept. The columns are
 * the fields of the first line.
 */
export async function ndjsonRows(name: string, text: AsyncIterable<string>, field: string): Promise<Rows> {
  const runs = parsedLines(name, text, field);
  const first = await firstRun(runs);
  const original = first?.[0]?.original ?? null;
  const columns = original === null ? null : Object.keys(original);
  const others = new Set<string>();
  return {
    columns,
    delimiter: ",",
    hint: "",
    runs: notingOthers(prepend(first, runs), new Set(columns ?? [field]), others),
    chosen: null,
    fields: { item: field, withoutColumn: () => [...others] },
  };
}

/** Adds to `others` the fields that are not known, up to `FIELDS_NOTED_MAX`. */
async function* notingOthers(
  runs: AsyncIterable<readonly Row[]>,
  known: ReadonlySet<string>,
  others: Set<string>,
) {
  for await (const run of runs) {
    for (const { original } of run) {
      if (original === null || others.size === FIELDS_NOTED_MAX) continue;
      for (const field of Object.keys(original)) {
        if (!known.has(field) && others.size < FIELDS_NOTED_MAX) others.add(field);
      }
    }
    yield run;
  }
}

async function* parsedLines(name: string, text: AsyncIterable<string>, field: string) {
  for await (const lines of linesOf(name, text)) {
    yield lines.map(({ line, number }): Row => {
      const value = parseJson(line);
      if (typeof value === "string") return { item: value, original: null };
      if (isObject(value) && typeof value[field] === "string") {
        return { item: value[field], original: Object.keys(value).length > 1 ? value : null };
      }
      const fault =
        value === undefined ? "is not valid JSON" : `is neither a string nor an object with "${field}"`;
      throw new TableError(`${name}: line ${number} ${fault}.`);
    });
  }
}

/** Returns the first run that is not empty; undefined for an empty input. */
async function firstRun<T>(runs: AsyncIterator<readonly T[]>): Promise<readonly T[] | undefined> {
  for (;;) {
    const { done, value } = await runs.next();
    if (done === true) return undefined;
    if (value.length > 0) return value;
  }
}

/** Prepends a run that was read ahead. */
export async function* prepend<T>(first: readonly T[] | undefined, rest: AsyncIterable<readonly T[]>) {
  if (first === undefined) return;
  yield first;
  yield* rest;
}
