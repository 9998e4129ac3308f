import type { Item } from "../../batch/items.ts";
import type { BatchKind } from "../../batch/messages.ts";
import { isObject } from "../../platform/json-value.ts";
import type { InputTable, IntakeOptions } from "./intake-messages.ts";
import { ITEM_FIELDS } from "./item-fields.ts";
import { identityOf } from "./line-records.ts";
import type { RecordForm } from "./records.ts";

/** Rows of a chunk: what a crash repeats at most, and what a thread takes about 10 ms for. */
export const CHUNK_ROWS_MAX = 4_000;

/** A chunk as it is stored. */
export type StoredChunk = { readonly form: RecordForm; readonly body: Uint8Array<ArrayBuffer> };

/** Copies texts: a part of a string keeps the whole that it was cut from in memory. */
export function apart(texts: readonly string[]): string[] {
  // Of one text alone, join returns that text itself.
  const joined = [...texts, "\n"].join("");
  let start = 0;
  return texts.map((text) => {
    const from = start;
    start += text.length;
    return joined.slice(from, start);
  });
}

/** The records of a chunk, each a line. */
export function recordsOf({ body }: StoredChunk): string[] {
  return Bun.zstdDecompressSync(body).toString("utf8").split("\n");
}

/** The keys of a chunk's items, by which duplicates are found, in their order. */
export function itemTextsOf(
  chunk: StoredChunk,
  { kind, form }: Pick<IntakeOptions, "kind" | "form">,
  table: InputTable | null,
): string[] {
  const records = recordsOf(chunk);
  if (chunk.form !== "ndjson") return records.map((record) => cellText(record, chunk.form, table));
  // A JSON body may say behind its items what they are.
  if (form === "json") return records.map((record) => identityOf(JSON.parse(record), "value", true) ?? "");
  const isTyped = kind === "identity";
  return records.map((record) => identityOf(JSON.parse(record), ITEM_FIELDS[kind], isTyped) ?? "");
}

/** The items of a chunk in the form of a batch's; `type` is that of documents which name none. */
export function itemsOf(
  chunk: StoredChunk,
  {
    kind,
    type,
    table,
  }: { readonly kind: BatchKind; readonly type: string | null; readonly table: InputTable | null },
): Item[] {
  const typed = (value: string, own: string | null): Item =>
    kind === "identity" ? [own ?? type, value] : value;
  return recordsOf(chunk).map((record) => {
    if (chunk.form !== "ndjson") return typed(cellText(record, chunk.form, table), null);
    const value: unknown = JSON.parse(record);
    if (typeof value === "string") return typed(value, null);
    if (!isObject(value)) throw new Error("a stored record holds no item");
    const item = value[ITEM_FIELDS[kind]] ?? value.value;
    return typed(String(item), typeof value.type === "string" ? value.type : null);
  });
}

/** The cells of a CSV record as it is stored. */
export function cellsOf(record: string, form: RecordForm, { delimiter }: InputTable): string[] {
  return form === "cells" ? JSON.parse(record) : record.split(delimiter);
}

function cellText(record: string, form: RecordForm, table: InputTable | null): string {
  if (table === null || form === "text") return record;
  if (form === "cells") return JSON.parse(record)[table.index] ?? "";
  let start = 0;
  for (let column = 0; column < table.index; column++) {
    const delimiter = record.indexOf(table.delimiter, start);
    if (delimiter === -1) return "";
    start = delimiter + table.delimiter.length;
  }
  const end = record.indexOf(table.delimiter, start);
  return record.slice(start, end === -1 ? undefined : end);
}
