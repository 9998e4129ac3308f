import { chooseColumn } from "../../tables/column.ts";
import { type CsvForm, csvFormOf } from "../../tables/csv-form.ts";
import { csvRecords, firstRecords } from "../../tables/csv-rows.ts";
import type { Records } from "../../tables/record-collector.ts";
import { prepend } from "../../tables/rows.ts";
import { TableError } from "../../tables/table-error.ts";
import { withoutCardNumber } from "../../verification/documents/card-hiding.ts";
import { createLineReader } from "./csv-lines.ts";
import { type CsvText, createCsvText } from "./csv-text.ts";
import type { InputTable, IntakeOptions } from "./intake-messages.ts";
import { RECORD_BYTES_MAX, type RecordSink, type Refusal, tooLong } from "./records.ts";

export type CsvOutcome = { readonly refusal: Refusal } | { readonly table: InputTable | null };

type Reading = {
  readonly form: CsvForm;
  readonly lineEnd: InputTable["lineEnd"];
  readonly options: Pick<IntakeOptions, "kind" | "column">;
};

/** Takes cells, but none that hold a fault of the text. */
type CellSink = {
  readonly sink: RecordSink;
  readonly faultOf: CsvText["faultOf"];
  /** Rows that the sink has taken before. */
  readonly rowsBefore: number;
};

/** The dialect and the column are detected in the first 256 KiB, or in the first line where that is longer. */
const START_BYTES = 262_144;
/** The names of the columns are kept with the job and go along with its chunks. A worksheet has as many columns. */
const COLUMNS_MAX = 16_384;
/** Of those names as JSON, which writes some characters in six bytes: as many as a row may have. */
const NAMES_BYTES_MAX = 1_048_576;
const NEWLINE = 0x0a;
const NAME = "The body";

/**
 * Reads CSV in UTF-8. Up to the first quote a record is a line and is kept as it stands; from there on a parser reads
 * on, and records are kept as their cells.
 */
export async function readCsvRecords(
  pieces: AsyncIterable<Uint8Array>,
  sink: RecordSink,
  options: Pick<IntakeOptions, "kind" | "column" | "delimiter">,
): Promise<CsvOutcome> {
  const source = pieces[Symbol.asyncIterator]();
  const start = await readStart(source);
  const startText = new TextDecoder().decode(start);
  const { hint, ...found } = csvFormOf(startText);
  const form = { ...found, delimiter: options.delimiter ?? found.delimiter };
  const text = startText.slice(hint.length);
  const rest = startingWith(start.subarray(Buffer.byteLength(hint)), source);
  // What lines alone cannot decide is left to the parser: quotes, lines that end with CR, a delimiter of several bytes.
  const isPlain = form.lineEnds.includes("\n") && !text.includes('"') && form.delimiter < "\u0080";
  const lineEnd: InputTable["lineEnd"] = /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n";
  const reading = { form, lineEnd, options };
  try {
    return isPlain ? await readLines(text, rest, sink, reading) : await readParsed(rest, sink, reading);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { refusal: { code: "invalid_request", message: error.message } };
  }
}

async function readLines(
  startText: string,
  pieces: AsyncIterator<Uint8Array>,
  sink: RecordSink,
  { form, lineEnd, options }: Reading,
): Promise<CsvOutcome> {
  const wholeLines = startText.slice(0, startText.lastIndexOf("\n") + 1 || undefined);
  const sample = wholeLines.split(/\r?\n/).filter((line) => line !== "");
  if (sample.length === 0) return { table: null };
  const cells = sample.map((line) => line.split(form.delimiter));
  const { table, hasHeader } = tableOf(cells, { form, lineEnd, options });
  const lines = createLineReader(sink, table, hasHeader);
  let carry: Uint8Array = new Uint8Array(0);
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    const bytes = carry.byteLength === 0 ? next.value : Buffer.concat([carry, next.value]);
    const { end, outcome } = lines.read(bytes, false);
    if (outcome === "quote") return await parseRest(bytes.subarray(end));
    if (outcome !== null) return { refusal: outcome };
    carry = bytes.slice(end);
    if (carry.byteLength > RECORD_BYTES_MAX) return { refusal: tooLong(lines.rows() + 1) };
  }
  const { outcome } = lines.read(carry, true);
  if (outcome === "quote") return await parseRest(carry);
  return outcome === null ? { table } : { refusal: outcome };

  async function parseRest(bytes: Uint8Array): Promise<CsvOutcome> {
    const rowsBefore = form.rowsBefore + lines.linesRead();
    const text = createCsvText(startingWith(bytes, pieces));
    const records = csvRecords(NAME, text.pieces, { ...form, rowsBefore });
    const sinkBehind = { sink, faultOf: text.faultOf, rowsBefore: lines.rows() };
    return takeCells(records, sinkBehind, table, lines.isHeaderDue());
  }
}

async function readParsed(
  pieces: AsyncIterator<Uint8Array>,
  sink: RecordSink,
  { form, lineEnd, options }: Reading,
): Promise<CsvOutcome> {
  const text = createCsvText(pieces);
  const records = csvRecords(NAME, text.pieces, form);
  const first = await firstRecords(records);
  if (first.length === 0) return { table: null };
  let chosen: ReturnType<typeof tableOf>;
  try {
    chosen = tableOf(first, { form, lineEnd, options });
  } catch (error) {
    // A name may not be found for what it is written in.
    const refusal = text.wholeFault();
    if (refusal === null) throw error;
    return { refusal };
  }
  const { table, hasHeader } = chosen;
  return takeCells(prepend(first, records), { sink, faultOf: text.faultOf, rowsBefore: 0 }, table, hasHeader);
}

async function takeCells(
  records: AsyncIterable<Records>,
  { sink, faultOf, rowsBefore }: CellSink,
  table: InputTable,
  hasHeader: boolean,
): Promise<CsvOutcome> {
  let isHeader = hasHeader;
  let rows = rowsBefore;
  for await (const run of records) {
    for (const cells of run) {
      const fault = faultOf(cells, rows + 1);
      if (fault !== null) return { refusal: fault };
      if (isHeader) {
        isHeader = false;
        continue;
      }
      rows += 1;
      const refusal = sink.takeText("cells", JSON.stringify(cells), cells[table.index] ?? "");
      if (refusal !== null) return { refusal };
    }
  }
  return { table };
}

function tableOf(
  records: Records,
  { form, lineEnd, options }: Reading,
): { readonly table: InputTable; readonly hasHeader: boolean } {
  const wish = {
    column: options.column ?? undefined,
    header: undefined,
    optionName: "column",
    // A first row of data may be taken for the header.
    shownName: withoutCardNumber,
  };
  const columns = records[0]?.length ?? 0;
  if (columns > COLUMNS_MAX) {
    throw new TableError(`${NAME} has ${columns} columns; a job takes at most ${COLUMNS_MAX}.`);
  }
  const { index, names, hasHeader } = chooseColumn(NAME, records, options.kind, wish);
  const bytes = Buffer.byteLength(JSON.stringify(names));
  if (bytes > NAMES_BYTES_MAX) {
    throw new TableError(
      `${NAME} has a header of ${bytes} bytes as JSON; a job takes at most ${NAMES_BYTES_MAX}.`,
    );
  }
  return { table: { columns: names, delimiter: form.delimiter, index, lineEnd }, hasHeader };
}

async function readStart(source: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let hasLineEnd = false;
  for (let bytes = 0; bytes < START_BYTES || (!hasLineEnd && bytes <= RECORD_BYTES_MAX); ) {
    const { done, value } = await source.next();
    if (done === true) break;
    // The buffer of a piece is used again for the next.
    pieces.push(value.slice());
    bytes += value.byteLength;
    hasLineEnd ||= value.includes(NEWLINE);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

async function* startingWith(start: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
