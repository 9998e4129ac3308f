import type { ListingBody } from "../../contract/directory-schemas.ts";
import type { SortField } from "../../contract/words.ts";
import { fillFrom, readFrom, type SpoolPlace } from "./spool.ts";
import type { TextIndex } from "./text-index.ts";
import { findText, type TextTable } from "./text-table.ts";
import type { ValueBounds } from "./value-bounds.ts";

export type SortOrder = "asc" | "desc";
export const FILTER_FIELDS = ["score", "price", "uptime"] as const satisfies readonly SortField[];
export type FilterField = (typeof FILTER_FIELDS)[number];

/**
 * An immutable state of the directory, built in the sync thread and transferred to the main thread. Rows are sorted
 * by host.
 */
export type Snapshot = SnapshotRows & SnapshotIndex;

/** The texts of the listings and their places. */
export type SnapshotRows = {
  /** Increases by one with every change of content, across restarts. */
  readonly version: number;
  /** SHA-256 of the export as JSON lines, in hex. */
  readonly digest: string;
  readonly count: number;
  /** Bytes of the export as JSON lines. */
  readonly bytes: number;
  /** The position in the change feed that this state covers. */
  readonly feed: FeedPosition;
  /** Shared memory; empty where the texts are in the file alone. */
  readonly segments: Uint8Array[];
  readonly segmentIds: readonly number[];
  readonly segmentFiles: readonly (SpoolPlace | null)[];
  readonly rowSegment: Uint32Array;
  readonly rowOffset: Uint32Array;
  readonly rowLength: Uint32Array;
};

/** The index for search and sorting, in memory of a single thread, which can be freed at once. */
export type SnapshotIndex = {
  readonly hosts: TextTable;
  /** The values that bounds are compared with. Prices are in micro-USD. */
  readonly bounds: Readonly<Record<FilterField, ValueBounds>>;
  /** Rows by value, equal ones by host, those without a value last in both orders. */
  readonly orders: Readonly<Record<SortField, Readonly<Record<SortOrder, Uint32Array>>>>;
  /** The keys of the payees, sorted; the rows of payee `n` are `payeeRows[payeeStarts[n]]` up to the next one's. */
  readonly payees: TextTable;
  readonly payeeStarts: Uint32Array;
  readonly payeeRows: Uint32Array;
  readonly text: TextIndex;
};

export type FeedPosition = { readonly epoch: string; readonly seq: number };

/**
 * Returns the text of a row: JSON without a line end. Copy the bytes before the next `await`: their memory may be
 * reused for another snapshot.
 */
export function rowBytes(snapshot: SnapshotRows, row: number): Uint8Array {
  const { segment, offset, length } = placeOf(snapshot, row);
  const bytes = snapshot.segments[segment];
  const file = snapshot.segmentFiles[segment];
  if (bytes === undefined || file === undefined) {
    throw new Error(`Row ${row} of snapshot ${snapshot.version} has no segment.`);
  }
  if (bytes.length > 0 || file === null) return bytes.subarray(offset, offset + length);
  const text = new Uint8Array(length);
  fillFrom(text, file, offset);
  return text;
}

/** Returns the listing of a row, parsed. */
export function listingAt(snapshot: SnapshotRows, row: number): ListingBody {
  return JSON.parse(new TextDecoder().decode(rowBytes(snapshot, row)));
}

function placeOf({ rowSegment, rowOffset, rowLength }: SnapshotRows, row: number) {
  return { segment: rowSegment[row] ?? 0, offset: rowOffset[row] ?? 0, length: rowLength[row] ?? 0 };
}

/** Switches the snapshot to the files of these segments, whose memory is about to be reused. */
export function retireSegments(snapshot: SnapshotRows, segmentIds: ReadonlySet<number>): void {
  for (const [at, id] of snapshot.segmentIds.entries()) {
    if (segmentIds.has(id)) snapshot.segments[at] = new Uint8Array();
  }
}

/** Returns whether the texts of all these rows are in memory. */
export function areInMemory(snapshot: SnapshotRows, rows: readonly number[]): boolean {
  const { segments, segmentFiles, rowSegment } = snapshot;
  return rows.every((row) => {
    const segment = rowSegment[row] ?? 0;
    return segmentFiles[segment] === null || (segments[segment]?.length ?? 0) > 0;
  });
}

/** Returns the texts of rows, from memory or from a file, without blocking the thread. */
export async function readRows(snapshot: SnapshotRows, rows: readonly number[]): Promise<Uint8Array[]> {
  const texts = await Promise.all(
    rows.map((row) => {
      const { segment, offset, length } = placeOf(snapshot, row);
      const file = snapshot.segmentFiles[segment];
      const isInFile = file !== undefined && file !== null && snapshot.segments[segment]?.length === 0;
      return isInFile ? readFrom(file, offset, length) : rowBytes(snapshot, row).slice();
    }),
  );
  // Keeps the snapshot referenced up to here, and so its file open.
  if (texts.length !== rows.length) throw new Error(`Rows of snapshot ${snapshot.version} are missing.`);
  return texts;
}

/** Returns the buffers of the index, to be transferred or freed. */
export function indexBuffers(index: SnapshotIndex): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const gather = (part: object): void => {
    if (!ArrayBuffer.isView(part)) {
      for (const inner of Object.values(part)) if (typeof inner === "object") gather(inner);
    } else if (part.buffer instanceof ArrayBuffer && part.buffer.byteLength > 0) buffers.add(part.buffer);
  };
  const { hosts, bounds, orders, payees, payeeStarts, payeeRows, text } = index;
  gather({ hosts, bounds, orders, payees, payeeStarts, payeeRows, text });
  return [...buffers];
}

/** Frees the index of a snapshot that is not queried any more; its texts can still be read. */
export function freeIndex(index: SnapshotIndex): void {
  for (const buffer of indexBuffers(index)) buffer.transfer(0);
}

/** Returns the row of a host, or -1. */
export function findHost(snapshot: Snapshot, host: string): number {
  assertIndex(snapshot);
  return findText(snapshot.hosts, host);
}

/** Returns the number of rows of a payee, by its key. */
export function countOfPayee(snapshot: Snapshot, payee: string): number {
  assertIndex(snapshot);
  const { payees, payeeStarts } = snapshot;
  const number = findText(payees, payee);
  return number < 0 ? 0 : (payeeStarts[number + 1] ?? 0) - (payeeStarts[number] ?? 0);
}

/** Throws where the index was freed, as it would find nothing. */
export function assertIndex({ version, count, hosts }: Snapshot): void {
  if (hosts.ends.length !== count) throw new Error(`The index of snapshot ${version} was given up.`);
}

/** Returns the rows by value and then by host, those without a value last, by host. */
export function orderRows(column: Float64Array): Readonly<Record<SortOrder, Uint32Array>> {
  const count = column.length;
  const asc = new Uint32Array(count);
  const desc = new Uint32Array(count);
  let valued = 0;
  for (let row = 0; row < count; row++) if (!Number.isNaN(column[row])) asc[valued++] = row;
  asc.subarray(0, valued).sort((a, b) => (column[a] ?? 0) - (column[b] ?? 0) || a - b);
  for (let row = 0, at = valued; row < count; row++) if (Number.isNaN(column[row])) asc[at++] = row;
  // Reversed group by group, so that equal values stay sorted by host.
  for (let end = valued, at = 0; end > 0; ) {
    let start = end - 1;
    while (start > 0 && column[asc[start - 1] ?? 0] === column[asc[end - 1] ?? 0]) start--;
    for (let place = start; place < end; place++) desc[at++] = asc[place] ?? 0;
    end = start;
  }
  desc.set(asc.subarray(valued), valued);
  return { asc, desc };
}

/** Returns the values of all rows, in order. */
export function column<Row>(rows: readonly Row[], readValue: (row: Row) => number): Float64Array {
  const numbers = new Float64Array(rows.length);
  let at = 0;
  for (const row of rows) numbers[at++] = readValue(row);
  return numbers;
}
