import { type ColumnChoice, chooseColumn, SAMPLE_ROWS } from "../../../tables/column.ts";
import { csvFormOf } from "../../../tables/csv-form.ts";
import { inputFormatOf } from "../../../tables/input-format.ts";
import { FORM_BYTES, whyNoText } from "../../../tables/mistaken-form.ts";
import { TableError } from "../../../tables/table-error.ts";
import { encodingByMark } from "../../../tables/text-form.ts";
import { createCsvReader } from "./csv-rows.ts";
import { createDistinctCount } from "./distinct-count.ts";
import type { ListKind, Preview, ReadReport, ReadRequest } from "./messages.ts";

const START_BYTES = 65_536;
const ROWS_SHOWN = 5;
const REPORT_EVERY_BYTES = 4_194_304;

type Row = readonly string[];
type Layout = Omit<Preview, "rows">;

/**
 * Reads a list once: reports its layout with five rows, then the number of distinct rows. Throws a TableError for a file
 * that is no list.
 */
export async function readList(request: ReadRequest, report: (report: ReadReport) => void): Promise<void> {
  const { file } = request;
  const first = new Uint8Array(await file.slice(0, FORM_BYTES).arrayBuffer());
  refuseMistaken(first, request);
  const mark = encodingByMark(first);
  // The platform's types list fewer encodings than it supports.
  const encoding = request.encoding ?? mark ?? "utf-8";
  const start = new TextDecoder(encoding as "utf-8").decode(await file.slice(0, START_BYTES).arrayBuffer());
  const form = inputFormatOf({ name: file.name, path: file.name, hasColumns: false }, start);
  const found = form === "csv" ? csvFormOf(start) : null;
  const dialect = found === null ? null : { ...found, delimiter: request.delimiter ?? found.delimiter };
  const fileForm = { form, delimiter: dialect?.delimiter ?? null };
  const distinct = createDistinctCount();
  let rows = 0;
  let waiting: Row[] | null = [];
  let layout: Layout | null = null;

  const count = (row: Row) => {
    rows += 1;
    distinct.add(row[(layout?.column ?? 1) - 1] ?? "");
  };
  const settle = () => {
    const first = waiting ?? [];
    waiting = null;
    layout = layoutOf(first, request, fileForm);
    const data = layout.hasHeader ? first.slice(1) : first;
    report({ type: "preview", preview: { ...layout, rows: data.slice(0, ROWS_SHOWN) } });
    for (const row of data) count(row);
  };
  const take = (row: Row) => {
    if (waiting === null) return count(row);
    waiting.push(row);
    if (waiting.length > SAMPLE_ROWS) settle();
  };

  const reader = dialect === null ? lineReaderOf(request, form, take) : createCsvReader(dialect, take);
  let skip = found?.hint.length ?? 0;
  let bytes = 0;
  let reported = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  for await (const text of decoded(file.stream().pipeThrough(counting), encoding, file.name)) {
    reader.push(skip > 0 ? text.slice(skip) : text);
    skip = 0;
    if (bytes - reported >= REPORT_EVERY_BYTES) {
      reported = bytes;
      report({ type: "progress", share: bytes / Math.max(1, file.size) });
    }
  }
  reader.end();
  if (waiting !== null) settle();
  report({ type: "counted", rows, distinct: distinct.count() });
}

/** Throws a TableError where the first bytes are those of another kind of file, or of an encoding that must be named. */
function refuseMistaken(first: Uint8Array, { file, encoding }: ReadRequest): void {
  const nameEncoding = encoding === null ? () => "choose its encoding" : null;
  const why = whyNoText(first, { name: file.name, nameEncoding });
  if (why !== null) throw new TableError(why);
}

/** Yields the text. Throws a TableError where the bytes are not of the encoding: the server would refuse them. */
async function* decoded(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  encoding: string,
  name: string,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* bytes.pipeThrough(new TextDecoderStream(encoding as "utf-8", { fatal: true }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TableError(`${name} is not ${encoding} text: choose its encoding.`);
  }
}

type FileForm = Pick<Preview, "form" | "delimiter">;

function lineReaderOf({ kind }: ReadRequest, form: Preview["form"], take: (row: Row) => void) {
  return createLineReader((line) => take([form === "ndjson" ? itemOf(line, kind) : line.trim()]));
}

function layoutOf(first: readonly Row[], request: ReadRequest, fileForm: FileForm): Layout {
  const { file, kind, column } = request;
  if (fileForm.form !== "csv" || first.length === 0) {
    return { ...fileForm, columns: ["item"], hasHeader: false, column: 1 };
  }
  const options = { column: column === null ? undefined : `${column}`, header: undefined };
  try {
    return written(chooseColumn(file.name, first, kind, options), fileForm);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    // No column was detected: the preview shows the first, and the visitor chooses.
    const any = chooseColumn(file.name, first, kind, { column: "1", header: undefined });
    return { ...written(any, fileForm), column: null };
  }
}

function written({ names, hasHeader, index }: ColumnChoice, fileForm: FileForm): Layout {
  return { ...fileForm, columns: names, hasHeader, column: index + 1 };
}

function createLineReader(onLine: (line: string) => void) {
  let rest = "";
  const take = (line: string) => {
    if (line.trim() !== "") onLine(line);
  };
  return {
    push(piece: string) {
      const lines = (rest + piece).split(/\r\n|\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
    },
    end: () => take(rest),
  };
}

const FIELDS: { readonly [kind in ListKind]: string } = { email: "email", identity: "value", phone: "phone" };

function itemOf(line: string, kind: ListKind): string {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "string") return value;
    const field = (value as { [name: string]: unknown } | null)?.[FIELDS[kind]];
    return typeof field === "string" ? field : line;
  } catch {
    return line;
  }
}
