import { findText, sharedIntegers, sharedNumbers, type TextTable } from "./shared-bytes.ts";
import type { TextIndex } from "./text-index.ts";

export const SORT_FIELDS = ["score", "price", "uptime", "latency", "payers", "last_paid"] as const;
export type SortField = (typeof SORT_FIELDS)[number];
export type SortOrder = "asc" | "desc";

/**
 * One state of the directory, complete and never changed: plain data over shared memory, built in the sync
 * thread and taken over by the main thread as it is. Rows are in the order of their hosts.
 */
export type Snapshot = {
  /** Grows by one with every change of content, over restarts too. */
  readonly version: number;
  /** SHA-256 of the export as JSON lines, in hex. */
  readonly digest: string;
  readonly count: number;
  /** Bytes of the export as JSON lines. */
  readonly bytes: number;
  /** The position in the change feed that this state covers. */
  readonly feed: FeedPosition;
  readonly segments: readonly Uint8Array[];
  readonly rowSegment: Uint32Array;
  readonly rowOffset: Uint32Array;
  readonly rowLength: Uint32Array;
  readonly hosts: TextTable;
  /** Sort values; NaN where the listing has none. Prices in micro-USD, times in ms. */
  readonly columns: Readonly<Record<SortField, Float64Array>>;
  /** Rows by value, equal ones by host, those without a value last in both orders. */
  readonly orders: Readonly<Record<SortField, Readonly<Record<SortOrder, Uint32Array>>>>;
  /** The keys of the payees, sorted, and the number of each row's. */
  readonly payees: TextTable;
  readonly rowPayee: Uint32Array;
  readonly text: TextIndex;
};

export type FeedPosition = { readonly epoch: string; readonly seq: number };

/** The text of a row: JSON without a line end. The bytes are shared: copy before handing them out of the process. */
export function rowBytes(snapshot: Snapshot, row: number): Uint8Array {
  const offset = snapshot.rowOffset[row] ?? 0;
  const segment = snapshot.segments[snapshot.rowSegment[row] ?? 0];
  if (segment === undefined) throw new Error(`Row ${row} of snapshot ${snapshot.version} has no segment.`);
  return segment.subarray(offset, offset + (snapshot.rowLength[row] ?? 0));
}

/** The row of a host, or -1. */
export function findHost(snapshot: Snapshot, host: string): number {
  return findText(snapshot.hosts, host);
}

/** The rows that have a value first, by it and then by host; the others after them, by host. */
export function orderRows(column: Float64Array): Readonly<Record<SortOrder, Uint32Array>> {
  const count = column.length;
  const asc = sharedIntegers(count);
  const desc = sharedIntegers(count);
  let valued = 0;
  for (let row = 0; row < count; row++) if (!Number.isNaN(column[row])) asc[valued++] = row;
  asc.subarray(0, valued).sort((a, b) => (column[a] ?? 0) - (column[b] ?? 0) || a - b);
  for (let row = 0, at = valued; row < count; row++) if (Number.isNaN(column[row])) asc[at++] = row;
  // Downwards group by group, so that equal values stay in the order of their hosts.
  for (let end = valued, at = 0; end > 0; ) {
    let start = end - 1;
    while (start > 0 && column[asc[start - 1] ?? 0] === column[asc[end - 1] ?? 0]) start--;
    for (let place = start; place < end; place++) desc[at++] = asc[place] ?? 0;
    end = start;
  }
  desc.set(asc.subarray(valued), valued);
  return { asc, desc };
}

export function column<Row>(rows: readonly Row[], readValue: (row: Row) => number): Float64Array {
  const numbers = sharedNumbers(rows.length);
  let at = 0;
  for (const row of rows) numbers[at++] = readValue(row);
  return numbers;
}
