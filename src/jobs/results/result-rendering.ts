import { createTable, type Table } from "../../tables/table.ts";
import { KINDS, type Task } from "../../tables/task.ts";
import { withoutCardNumber } from "../../verification/documents/card-hiding.ts";
import { linesOf } from "../chunks/chunk-work.ts";
import { cellsOf, recordsOf, type StoredChunk } from "../intake/chunk-rows.ts";
import type { InputTable } from "../intake/intake-messages.ts";

export type ResultFormat = "ndjson" | "csv" | "json";

/** Keeps the results with one of the words; null keeps all. */
export type ResultFilter = {
  readonly statuses: readonly string[] | null;
  readonly subStatuses: readonly string[] | null;
};

export type RenderTask = {
  readonly format: ResultFormat;
  readonly filter: ResultFilter;
  readonly task: Task;
  readonly table: InputTable | null;
  /** The position of the chunk's first row in the input, from 0. */
  readonly firstRow: number;
  /** The results of the chunk's first rows, in parts. */
  readonly bodies: readonly Uint8Array<ArrayBuffer>[];
  /** The records of the chunk, which CSV repeats; null for the other formats. */
  readonly input: StoredChunk | null;
};

export type RenderedResults = { readonly bytes: Uint8Array<ArrayBuffer>; readonly rows: number };

/** Renders the results of a chunk for a download: lines with their line ends, or JSON objects each with a comma. */
export function renderResults(task: RenderTask): RenderedResults {
  const lines = linesOf(task.bodies);
  const isWanted = filterOf(task.filter);
  const table = task.format === "csv" ? resultTable(task.task, task.table) : null;
  const records = task.input === null ? null : recordsOf(task.input);
  let text = "";
  let rows = 0;
  for (const [at, line] of lines.entries()) {
    if (!isWanted(line)) continue;
    rows += 1;
    if (table === null)
      text += `${withRow(line, task.firstRow + at + 1)}${task.format === "json" ? "," : "\n"}`;
    else text += csvLine(table, task, line, records?.[at] ?? "");
  }
  return { bytes: new TextEncoder().encode(text), rows };
}

/** Returns the first line of a CSV download. */
export function csvHeader(task: Task, table: InputTable | null): string {
  return resultTable(task, table).header;
}

/** Characters that a result takes beside its line and the digits of its row. */
export const ROW_FIELD_CHARS = '"row":,'.length;

function withRow(line: string, row: number): string {
  return `{"row":${row},${line.slice(1)}`;
}

function resultTable(task: Task, table: InputTable | null): Table {
  return createTable(task, {
    format: "csv",
    // Of a list without a header the first item may be taken for one.
    columns: table?.columns.map((name, at) => (at === table.index ? withoutCardNumber(name) : name)) ?? null,
    delimiter: table?.delimiter ?? ",",
    hint: "",
    textForm: { encoding: "utf-8", hasMark: false, lineEnd: table?.lineEnd ?? "\n" },
  });
}

function csvLine(
  table: Table,
  { task, input, table: columns }: RenderTask,
  line: string,
  record: string,
): string {
  const result = JSON.parse(line);
  if (columns === null || input === null) return table.line({ item: "", original: null }, result);
  const original = cellsOf(record, input.form, columns);
  // The result has the item as it was given, but a card number masked, which no reply contains otherwise.
  if (columns.index < original.length) original[columns.index] = result[KINDS[task.kind].field];
  return table.line({ item: "", original }, result);
}

/**
 * Finds the words of a result without parsing it. Text of callers occurs in JSON strings only, where quotes are escaped,
 * so the quoted name of a field occurs as that field alone.
 */
function filterOf({ statuses, subStatuses }: ResultFilter): (line: string) => boolean {
  if (statuses === null && subStatuses === null) return () => true;
  return (line) => {
    const status = wordAfter(line, '"status":"') ?? (line.includes('"valid":true') ? "valid" : "invalid");
    if (statuses !== null && !statuses.includes(status)) return false;
    return subStatuses === null || subStatuses.includes(wordAfter(line, '"sub_status":"') ?? "");
  };
}

function wordAfter(line: string, field: string): string | null {
  const at = line.indexOf(field);
  return at === -1 ? null : line.slice(at + field.length, line.indexOf('"', at + field.length));
}

/** The task of a job as the command line knows it: what columns its results have. */
export function taskOf(
  kind: Task["kind"],
  options: {
    readonly deep: boolean;
    readonly dns: boolean;
    readonly country: string | null;
    readonly type: string | null;
  },
): Task {
  switch (kind) {
    case "email":
      return { kind, deep: options.deep, dns: options.dns };
    case "phone":
      return { kind, country: options.country };
    case "identity":
      // Columns differ by whether a type is named, not by which.
      return { kind, type: options.type === null ? null : "iban" };
  }
}
