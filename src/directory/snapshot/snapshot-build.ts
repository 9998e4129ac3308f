import { createHash } from "node:crypto";
import { SORT_FIELDS, type SortField } from "../../contract/words.ts";
import type { Dictionary } from "./dictionary.ts";
import type { Row } from "./row.ts";
import { copyText, type Segment, sharedIntegers } from "./shared-bytes.ts";
import {
  column,
  type FeedPosition,
  FILTER_FIELDS,
  orderRows,
  type SnapshotIndex,
  type SnapshotRows,
} from "./snapshot.ts";
import { buildTextIndex } from "./text-index.ts";
import { createTextTable } from "./text-table.ts";
import { buildValueBounds } from "./value-bounds.ts";

const LINE_END = 0x0a;
/** More than the longest text. */
const BATCH_BYTES = 256 * 1024;

/** Returns the rows sorted by host. */
export function sortedByHost(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => (a.host < b.host ? -1 : 1));
}

/** Returns the SHA-256 in hex of the rows as JSON lines. */
export function digestOf(sorted: readonly Row[]): string {
  const hash = createHash("sha256");
  const batch = Buffer.alloc(BATCH_BYTES);
  let used = 0;
  for (const row of sorted) {
    if (used + row.length + 1 > batch.length) {
      hash.update(batch.subarray(0, used));
      used = 0;
    }
    used += copyText(row, batch, used);
    batch[used] = LINE_END;
    used += 1;
  }
  return hash.update(batch.subarray(0, used)).digest("hex");
}

type Identity = { readonly version: number; readonly digest: string; readonly feed: FeedPosition };

/** Builds the rows of a snapshot from rows sorted by host. */
export function buildRows(sorted: readonly Row[], identity: Identity): SnapshotRows {
  const bytes = sorted.reduce((sum, row) => sum + row.length + 1, 0);
  return { ...identity, count: sorted.length, bytes, ...placesOf(sorted) };
}

/** Builds the index by which a snapshot finds and sorts its rows. */
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

/** Groups rows by payee, in plain loops: garbage for each of 100,000 rows adds up to megabytes. */
function payeesOf(sorted: readonly Row[]) {
  const payeeOf = (row: number): string => sorted[row]?.payee ?? "";
  const payeeRows = new Uint32Array(sorted.length);
  for (let row = 0; row < sorted.length; row++) payeeRows[row] = row;
  payeeRows.sort((a, b) => {
    const first = payeeOf(a);
    const second = payeeOf(b);
    if (first === second) return a - b;
    return first < second ? -1 : 1;
  });
  const payees: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < payeeRows.length; at++) {
    const payee = payeeOf(payeeRows[at] ?? 0);
    if (payees.length > 0 && payee === payees[payees.length - 1]) continue;
    payees.push(payee);
    starts.push(at);
  }
  starts.push(sorted.length);
  return { payees: createTextTable(payees), payeeStarts: Uint32Array.from(starts), payeeRows };
}
