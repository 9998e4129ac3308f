import type { BatchKind } from "../batch/messages.ts";
import { TableError } from "./table-error.ts";
import { KINDS } from "./task.ts";

/** The options of the command line for the columns of a CSV file. */
export type ColumnOptions = {
  /** A name, or a number from 1. */
  readonly column: string | undefined;
  /** Undefined to detect it. */
  readonly header: boolean | undefined;
  /** The option that names the column, for messages; `--column` by default. */
  readonly optionName?: string;
  /** Returns a name as messages may show it; as it is by default. */
  readonly shownName?: (name: string) => string;
};

export type ColumnChoice = {
  readonly index: number;
  readonly names: readonly string[];
  readonly hasHeader: boolean;
};

type Records = readonly (readonly string[])[];

/** Rows that are searched for the column. */
export const SAMPLE_ROWS = 200;

/**
 * Finds the column of the items. The first row is a header where a column is named, or where none of its cells looks
 * like an item. Throws a TableError that lists the columns.
 */
export function chooseColumn(
  file: string,
  records: Records,
  kind: BatchKind,
  options: ColumnOptions,
): ColumnChoice {
  const first = records[0] ?? [];
  const isNumber = options.column !== undefined && isColumnNumber(options.column, first);
  const isNamed = options.column !== undefined && !isNumber;
  const hasHeader = options.header ?? (isNamed || !first.some(KINDS[kind].looksLike));
  const names = hasHeader ? [...first] : first.map((_, position) => `column_${position + 1}`);
  if (isNamed && !hasHeader) throw new TableError("A column can be named only where the file has a header.");
  const index = isNumber
    ? numbered(file, Number(options.column), names, options)
    : options.column !== undefined
      ? named(file, options.column, names, options)
      : found(file, hasHeader ? records.slice(1) : records, { kind, names, hasHeader, options });
  return { index, names, hasHeader };
}

/** A number beyond the last column is a name where a column has it, such as a year. */
function isColumnNumber(column: string, first: readonly string[]): boolean {
  return /^\d{1,6}$/.test(column) && (Number(column) <= first.length || !first.includes(column));
}

function numbered(file: string, number: number, names: readonly string[], options: ColumnOptions): number {
  if (number >= 1 && number <= names.length) return number - 1;
  throw new TableError(`${file} has no column ${number}: it has ${listOf(names, options)}.`);
}

function named(file: string, name: string, names: readonly string[], options: ColumnOptions): number {
  const exact = names.indexOf(name);
  if (exact !== -1) return exact;
  const bare = name.trim().toLowerCase();
  const near = names.findIndex((candidate) => candidate.trim().toLowerCase() === bare);
  if (near !== -1) return near;
  const { shownName = asItIs } = options;
  throw new TableError(`${file} has no column "${shownName(name)}": it has ${listOf(names, options)}.`);
}

/** Finds the column by its header, else by its cells. */
function found(
  file: string,
  rows: Records,
  {
    kind,
    names,
    hasHeader,
    options,
  }: Omit<ColumnChoice, "index"> & { readonly kind: BatchKind; readonly options: ColumnOptions },
): number {
  const { columnNames, looksLike, plural } = KINDS[kind];
  const { optionName = "--column" } = options;
  const header = hasHeader ? names : [];
  const bare = header.map((name) => name.toLowerCase().replace(/[^\p{L}\d]/gu, ""));
  const known = bare.findIndex((name) => columnNames.includes(name));
  if (known !== -1) return known;
  if (names.length === 1) return 0;
  const counts = names.map(
    (_, index) => rows.slice(0, SAMPLE_ROWS).filter((row) => looksLike(row[index] ?? "")).length,
  );
  const most = Math.max(...counts);
  if (most > 0 && counts.filter((count) => count === most).length === 1) return counts.indexOf(most);
  throw new TableError(
    `${file} has no column that plainly holds the ${plural}: say which one does with ${optionName}. It has ${listOf(names, options)}.`,
  );
}

const NAMES_SHOWN = 20;

const asItIs = (name: string): string => name;

function listOf(names: readonly string[], { shownName = asItIs }: ColumnOptions): string {
  const shown = names
    .slice(0, NAMES_SHOWN)
    .map((name, position) => `${position + 1} ${shownName(name.trim()) || "(empty)"}`);
  return names.length > NAMES_SHOWN
    ? `${shown.join(", ")} and ${names.length - NAMES_SHOWN} more`
    : shown.join(", ");
}
