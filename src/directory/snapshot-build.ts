import { createHash } from "node:crypto";
import type { Row } from "./row.ts";
import { bytesAt, createTextTable, type Segment, sharedIntegers } from "./shared-bytes.ts";
import {
  column,
  type FeedPosition,
  orderRows,
  type Snapshot,
  SORT_FIELDS,
  type SortField,
} from "./snapshot.ts";
import { buildTextIndex, type Dictionary } from "./text-index.ts";

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

/** Builds the snapshot of rows sorted by host. */
export function buildSnapshot(
  sorted: readonly Row[],
  dictionary: Dictionary,
  identity: {
    readonly version: number;
    readonly digest: string;
    readonly feed: FeedPosition;
  },
): Snapshot {
  const count = sorted.length;
  const columnOf = (field: SortField) => column(sorted, (row) => row[field]);
  const columns = perField(columnOf);
  return {
    ...identity,
    count,
    bytes: sorted.reduce((sum, row) => sum + row.length + 1, 0),
    ...placesOf(sorted),
    hosts: createTextTable(sorted.map((row) => row.host)),
    columns,
    orders: perField((field) => orderRows(columns[field])),
    ...payeesOf(sorted),
    text: buildTextIndex(
      Uint32Array.from(sorted, (row) => row.words),
      dictionary,
    ),
  };
}

function perField<T>(make: (field: SortField) => T): Record<SortField, T> {
  return Object.fromEntries(SORT_FIELDS.map((field) => [field, make(field)])) as Record<SortField, T>;
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
  return { segments: [...numbers.keys()].map((segment) => segment.bytes), rowSegment, rowOffset, rowLength };
}

function payeesOf(sorted: readonly Row[]) {
  const payees = [...new Set(sorted.map((row) => row.payee))].sort();
  const numbers = new Map(payees.map((payee, number) => [payee, number]));
  const rowPayee = sharedIntegers(sorted.length);
  let at = 0;
  for (const row of sorted) rowPayee[at++] = numbers.get(row.payee) ?? 0;
  return { payees: createTextTable(payees), rowPayee };
}
