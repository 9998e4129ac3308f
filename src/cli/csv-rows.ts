import { type CsvError, parse } from "csv-parse";
import type { BatchKind } from "../batch/messages.ts";
import { type ColumnWish, chooseColumn } from "./column.ts";
import { CliError } from "./failure.ts";
import { firstRun, LINE_CHARS_MAX, type Row, type Rows, rejoined } from "./rows.ts";

const DELIMITERS = [",", ";", "\t", "|"];

/** The rows of a CSV file: the delimiter, the header and the column are found out where they are not named. */
export async function csvRows(
  name: string,
  text: AsyncIterable<string>,
  { firstLine, kind, wish }: { firstLine: string; kind: BatchKind; wish: ColumnWish },
): Promise<Rows> {
  const delimiter = delimiterOf(firstLine);
  const records = csvRecords(name, text, delimiter);
  const first = await firstRun(records);
  if (first === undefined) return { columns: null, delimiter, runs: rejoined<Row>(undefined, noRows()) };
  const { index, names, hasHeader } = chooseColumn(name, first, kind, wish);
  async function* runs() {
    let skip = hasHeader ? 1 : 0;
    for await (const run of rejoined(first, records)) {
      yield run.slice(skip).map((cells): Row => ({ item: cells[index] ?? "", original: cells }));
      skip = 0;
    }
  }
  return { columns: names, delimiter, runs: runs() };
}

async function* noRows(): AsyncGenerator<readonly Row[]> {}

/** The separator that stands most often in the line outside of quotes; a comma where there is none. */
function delimiterOf(firstLine: string): string {
  const bare = firstLine.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** The records of a CSV text, in runs as long as the pieces make them. */
async function* csvRecords(
  name: string,
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<readonly (readonly string[])[], void, undefined> {
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LINE_CHARS_MAX,
  });
  let records: string[][] = [];
  parser.on("data", (record: string[]) => records.push(record));
  const failed = new Promise<never>((_, reject) => parser.once("error", reject));
  const ended = new Promise<void>((resolve) => parser.once("end", resolve));
  failed.catch(() => undefined);
  const takeRecords = () => {
    const taken = records;
    records = [];
    return taken;
  };
  try {
    for await (const piece of text) {
      if (piece === "") continue;
      await Promise.race([new Promise((resolve) => parser.write(piece, resolve)), failed]);
      yield takeRecords();
    }
    parser.end();
    await Promise.race([ended, failed]);
    yield takeRecords();
  } catch (error) {
    throw isCsvError(error) ? new CliError(`${name} is not CSV: ${faultOf(error)}.`) : error;
  }
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("CSV_");
}

function faultOf({ code, lines }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "a quote is opened and never closed";
  if (code === "CSV_MAX_RECORD_SIZE")
    return `the record at line ${lines} is too long; a quote may not be closed`;
  return `line ${lines} cannot be read (${code})`;
}
