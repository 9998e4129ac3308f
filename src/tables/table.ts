import type { Original, Row } from "./rows.ts";
import { KINDS, type Result, resultColumns, type Task } from "./task.ts";
import type { TextForm } from "./text-form.ts";

export type OutputFormat = "csv" | "ndjson";

/** Formats rows with their results as lines. */
export type Table = {
  /** The first line, or empty. */
  readonly header: string;
  readonly line: (row: Row, result: Result) => string;
};

/** How lines are written. `columns` are those of the input. */
export type TableForm = {
  readonly format: OutputFormat;
  readonly columns: readonly string[] | null;
  readonly delimiter: string;
  /** The line before the header of a CSV: `sep=;` with its line end, or empty. */
  readonly hint: string;
  readonly textForm: TextForm;
  /** The column of the items of NDJSON, for rows without an original. */
  readonly itemField?: string;
};

/** Creates the table of results of a task in a form. */
export function createTable(task: Task, form: TableForm): Table {
  return form.format === "csv" ? csvTable(task, form) : ndjsonTable(form.columns);
}

/** Creates a CSV table: the original columns, then ours; without original columns the item comes first. */
function csvTable(task: Task, { columns, delimiter, hint, textForm, itemField }: TableForm): Table {
  const fields = columns === null ? [KINDS[task.kind].field, ...resultColumns(task)] : resultColumns(task);
  const original = columns ?? [];
  // The result has the item as it was given, but a card number masked.
  const itemCells = (result: Result) =>
    original.map((column) => (column === itemField ? cellOf(result[KINDS[task.kind].field]) : ""));
  const join = (cells: readonly string[]) =>
    cells.map((cell) => quoted(cell, delimiter)).join(delimiter) + textForm.lineEnd;
  return {
    header: (textForm.hasMark ? "\ufeff" : "") + hint + join([...original, ...freeNames(fields, original)]),
    line(row, result) {
      const cells = row.original === null ? itemCells(result) : cellsOf(row.original, original);
      const ours = fields.map((field) => cellOf(result[field]));
      // Cells beyond the header go to the end, so that ours stay under their names.
      return join([...cells.slice(0, original.length), ...ours, ...cells.slice(original.length)]);
    },
  };
}

/** Returns a cell for each column, and those beyond the columns. */
function cellsOf(original: NonNullable<Original>, columns: readonly string[]): readonly string[] {
  if (!isCells(original)) return columns.map((column) => cellOf(original[column]));
  return original.length >= columns.length
    ? original
    : columns.map((_, position) => original[position] ?? "");
}

/** Returns the names of our columns, with a prefix where an original column has the same name. */
function freeNames(fields: readonly string[], taken: readonly string[]): readonly string[] {
  const names = new Set(taken.map((name) => name.trim().toLowerCase()));
  return fields.map((field) => {
    let name = field;
    while (names.has(name)) name = `assay_${name}`;
    return name;
  });
}

/** Formats a value. Lists of words are joined by spaces; other lists and objects are JSON. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((part) => typeof part === "string")) return value.join(" ");
  return JSON.stringify(value);
}

/** Quotes a cell that contains a separator, a quote or a line end (RFC 4180), or has blanks at either end. */
function quoted(cell: string, delimiter: string): string {
  const isPlain = !cell.includes(delimiter) && !/["\r\n]|^\s|\s$/.test(cell);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/**
 * Creates an NDJSON table: results as the API returns them, with the original row in `input` where it has more than
 * the item.
 */
function ndjsonTable(columns: readonly string[] | null): Table {
  const nameOf = createCellNames(columns ?? []);
  return {
    header: "",
    line({ original }, result) {
      if (original === null) return `${JSON.stringify(result)}\n`;
      return `${JSON.stringify({ input: objectOf(original, nameOf), ...result })}\n`;
    },
  };
}

function objectOf(original: NonNullable<Original>, nameOf: CellNames): object {
  if (!isCells(original)) return original;
  const width = Math.max(nameOf.count, original.length);
  return Object.fromEntries(
    Array.from({ length: width }, (_, position) => [nameOf.at(position), original[position] ?? ""]),
  );
}

type CellNames = { readonly count: number; readonly at: (position: number) => string };

/**
 * Gives every cell of a row a name of its own: its header, `name_2` where an earlier column has the same header, and
 * `column_3` without a header.
 */
function createCellNames(columns: readonly string[]): CellNames {
  const headers = new Set(columns);
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const names: string[] = [];
  function free(name: string): string {
    for (let count = (counts.get(name) ?? 0) + 1; ; count++) {
      const candidate = count === 1 ? name : `${name}_${count}`;
      if (taken.has(candidate) || (count > 1 && headers.has(candidate))) continue;
      counts.set(name, count);
      return candidate;
    }
  }
  return {
    count: columns.length,
    at(position) {
      for (let next = names.length; next <= position; next++) {
        const header = columns[next] ?? "";
        const name = free(header.trim() === "" ? `column_${next + 1}` : header);
        taken.add(name);
        names.push(name);
      }
      return names[position] ?? "";
    },
  };
}

function isCells(original: NonNullable<Original>): original is readonly string[] {
  return Array.isArray(original);
}
