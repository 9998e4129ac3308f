import { createHash } from "node:crypto";
import type { Row } from "./row.ts";
import { bytesAt, type Segment, sharedIntegers } from "./shared-bytes.ts";
import {
  column,
  type FeedPosition,
  FILTER_FIELDS,
  orderRows,
  type Snapshot,
  type SnapshotIndex,
  type SnapshotRows,
  SORT_FIELDS,
  type SortField,
} from "./snapshot.ts";
import { buildTextIndex, type Dictionary } from "./text-index.ts";
import { createTextTable } from "./text-table.ts";
import { buildValueBounds } from "./value-bounds.ts";

const LINE_END = new Uint8Array([0x0a]);

/** Rows in the order of their hosts. */
export function sortedByHost(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => (a.host < b.host ? -1 : 1));
}

/** SHA-256 in hex of the rows as JSON lines. */
export function digestOf(sorted: readonly Row[]): string {
  const hash = createHash("sha256");
  for (const row of sorted) hash.update(bytesAt(row)).update(LINE_END);
  return hash.digest("hex");
}

type Identity = { readonly version: number; readonly digest: string; readonly feed: FeedPosition };

/** Builds the snapshot of rows sorted by host. */
export function buildSnapshot(sorted: readonly Row[], dictionary: Dictionary, identity: Identity): Snapshot {
  return { ...buildRows(sorted, identity), ...buildIndex(sorted, dictionary) };
}

export function buildRows(sorted: readonly Row[], identity: Identity): SnapshotRows {
  const bytes = sorted.reduce((sum, row) => sum + row.length + 1, 0);
  return { ...identity, count: sorted.length, bytes, ...placesOf(sorted) };
}

export function buildIndex(sorted: readonly Row[], dictionary: Dictionary): SnapshotIndex {
  const columns = perField(SORT_FIELDS, (field) => column(sorted, (row) => row[field]));
  const orders = perField(SORT_FIELDS, (field) => orderRows(columns[field]));
  return {
    hosts: createTextTable(sorted.map((row) => row.host)),
    bounds: perField(FILTER_FIELDS, (field) => buildValueBounds(columns[field], orders[field].asc)),
    orders,
    ...payeesOf(sorted),
    text: buildTextIndex(
      Uint32Array.from(sorted, (row) => row.words),
      dictionary,
    ),
  };
}

function perField<Field extends SortField, T>(
  fields: readonly Field[],
  make: (field: Field) => T,
): Record<Field, T> {
  return Object.fromEntries(fields.map((field) => [field, make(field)])) as Record<Field, T>;
}

function placesOf(sorted: readonly Row[]) {
  const numbers = new Map<Segment, number>();
  const rowSegment = sharedIntegers(sorted.length);
  const rowOffset = sharedIntegers(sorted.length);
  const rowLength = sharedIntegers(sorted.length);
  let at = 0;
  for (const place of sorted) {
    const number = numbers.get(place.segment) ?? numbers.size;
    numbers.set(place.segment, number);
    rowSegment[at] = number;
    rowOffset[at] = place.offset;
    rowLength[at] = place.length;
    at += 1;
  }
  const segments = [...numbers.keys()];
  return {
    segments: segments.map((segment) => segment.bytes),
    segmentIds: segments.map((segment) => segment.id),
    segmentFiles: segments.map((segment) => segment.file),
    rowSegment,
    rowOffset,
    rowLength,
  };
}

function payeesOf(sorted: readonly Row[]) {
  const payees = [...new Set(sorted.map((row) => row.payee))].sort();
  const numbers = new Map(payees.map((payee, number) => [payee, number]));
  const payeeStarts = new Uint32Array(payees.length + 1);
  for (const { payee } of sorted) {
    const after = (numbers.get(payee) ?? 0) + 1;
    payeeStarts[after] = (payeeStarts[after] ?? 0) + 1;
  }
  for (let number = 0; number < payees.length; number++) {
    payeeStarts[number + 1] = (payeeStarts[number + 1] ?? 0) + (payeeStarts[number] ?? 0);
  }
  const next = payeeStarts.slice();
  const payeeRows = new Uint32Array(sorted.length);
  for (const [row, { payee }] of sorted.entries()) {
    const number = numbers.get(payee) ?? 0;
    const at = next[number] ?? 0;
    payeeRows[at] = row;
    next[number] = at + 1;
  }
  return { payees: createTextTable(payees), payeeStarts, payeeRows };
}
