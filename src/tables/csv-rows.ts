import { type CsvError, parse } from "csv-parse";
import type { BatchKind } from "../batch/messages.ts";
import { type ColumnOptions, chooseColumn, SAMPLE_ROWS } from "./column.ts";
import { type CsvForm, csvFormOf } from "./csv-form.ts";
import { createRecordCollector, type Records, RowError } from "./record-collector.ts";
import { LINE_CHARS_MAX, prepend, type Row, type Rows } from "./rows.ts";
import { TableError } from "./table-error.ts";

/** Returns the rows of a CSV file. Delimiter, header and column are detected where they are not named. */
export async function csvRows(
  name: string,
  text: AsyncIterable<string>,
  { start, kind, options }: { start: string; kind: BatchKind; options: ColumnOptions },
): Promise<Rows> {
  const { hint, ...form } = csvFormOf(start);
  const { delimiter } = form;
  const records = csvRecords(name, withoutStart(text, hint.length), form);
  const first = await firstRecords(records);
  if (first.length === 0) {
    return { columns: null, delimiter, hint, runs: prepend<Row>(undefined, noRows()), chosen: null };
  }
  const { index, names, hasHeader } = chooseColumn(name, first, kind, options);
  async function* runs() {
    let skip = hasHeader ? 1 : 0;
    for await (const run of prepend(first, records)) {
      yield run.slice(skip).map((cells): Row => ({ item: cells[index] ?? "", original: cells }));
      skip = 0;
    }
  }
  const header = hasHeader ? (names[index] ?? "") : null;
  return { columns: names, delimiter, hint, runs: runs(), chosen: { number: index + 1, header } };
}

/** Characters of records that the column is found in: as much as is read of a CSV for its form. */
const SAMPLE_CHARS = 262_144;

/**
 * Reads enough records to find the column in, or all; complete runs, so that none is lost. A header that is longer than
 * `SAMPLE_CHARS` comes with a row.
 */
export async function firstRecords(records: AsyncIterator<Records>): Promise<Records> {
  const first: (readonly string[])[] = [];
  let chars = 0;
  while (first.length <= SAMPLE_ROWS && (first.length < 2 || chars < SAMPLE_CHARS)) {
    const { done, value } = await records.next();
    if (done === true) break;
    for (const record of value) {
      first.push(record);
      chars += charsOf(record);
    }
  }
  return first;
}

/** Characters of a record with its delimiters: cells take memory also where they are empty. */
function charsOf(record: readonly string[]): number {
  return record.reduce((chars, cell) => chars + cell.length, record.length);
}

async function* noRows(): AsyncGenerator<readonly Row[]> {}

/** Skips the first characters, which are all in the first piece. */
async function* withoutStart(text: AsyncIterable<string>, chars: number): AsyncGenerator<string> {
  let skip = chars;
  for await (const piece of text) {
    yield piece.slice(skip);
    skip = 0;
  }
}

/** Yields the records of a CSV text, one run for each piece. Those before a fault are yielded before it is thrown. */
export async function* csvRecords(
  name: string,
  text: AsyncIterable<string>,
  { delimiter, lineEnds, rowsBefore }: CsvForm,
): AsyncGenerator<Records, void, undefined> {
  const parser = parse({
    delimiter,
    record_delimiter: [...lineEnds],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LINE_CHARS_MAX,
  });
  const collector = createRecordCollector(parser, lineEnds);
  const failed = new Promise<never>((_, reject) => parser.once("error", reject));
  const ended = new Promise<void>((resolve) => parser.once("end", resolve));
  failed.catch(() => undefined);
  try {
    for await (const piece of text) {
      if (piece === "") continue;
      collector.add(piece);
      await Promise.race([new Promise((resolve) => parser.write(piece, resolve)), failed]);
      yield collector.take();
      collector.throwFault();
    }
    parser.end();
    await Promise.race([ended, failed]);
    yield collector.take();
    collector.throwFault();
  } catch (error) {
    if (!isCsvError(error) && !(error instanceof RowError)) throw error;
    yield collector.take();
    throw new TableError(`${name} is not CSV: ${faultOf(collector.fault() ?? error, rowsBefore)}.`);
  }
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("CSV_");
}

/** Describes a fault. Rows are counted as a spreadsheet does: from 1, the header and empty rows included. */
function faultOf(error: CsvError | RowError, rowsBefore: number): string {
  if (error instanceof RowError) {
    const row = rowsBefore + error.row;
    return error.fault === "too_long"
      ? tooLong(row)
      : `a quote is opened in row ${row} and never closed there`;
  }
  const { code, lines } = error;
  const row = rowsBefore + numberOf(error.records) + numberOf(error.empty_lines) + 1;
  if (code === "CSV_QUOTE_NOT_CLOSED") return `a quote is opened in row ${row} and never closed`;
  if (code === "CSV_MAX_RECORD_SIZE") return tooLong(row);
  return `line ${lines} cannot be read (${code})`;
}

function tooLong(row: number): string {
  return `row ${row} is too long; a quote may not be closed`;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
