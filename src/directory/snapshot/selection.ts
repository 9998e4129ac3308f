import { type Bitmap, bitmapOf, countRows, intersect, subtract } from "./bitmap.ts";
import type { DirectoryQuery } from "./query.ts";
import type { FilterField, Snapshot } from "./snapshot.ts";
import { searchTextIndex } from "./text-index.ts";
import { findText } from "./text-table.ts";
import { rankOf, rowsBefore } from "./value-bounds.ts";

/** The rows that pass the filters of a query. */
export type Selection = {
  readonly total: number;
  /** Null for every row. */
  readonly rows: Bitmap | null;
  /** The range of the sort order that contains all of these rows. */
  readonly start: number;
  readonly end: number;
};

/** The ranks [start, end) in the ascending order of a field. */
type Range = { readonly field: FilterField; readonly start: number; readonly end: number };

/** Intersects the sets of the filters, none of which reads every listing. */
export function select(snapshot: Snapshot, query: DirectoryQuery): Selection {
  const ranges = rangesOf(snapshot, query);
  let rows: Bitmap | null = null;
  const keep = (found: Bitmap): void => {
    if (rows === null) rows = found;
    else intersect(rows, found);
  };
  if (query.words !== null) keep(searchTextIndex(snapshot.text, query.words, snapshot.count));
  if (query.payee !== null) keep(rowsOfPayee(snapshot, query.payee));
  for (const range of ranges) keep(rowsOfRange(snapshot, range));
  const total = rows === null ? snapshot.count : countRows(rows);
  return { total, rows, ...partOf(snapshot, query, ranges) };
}

/** Returns the ranges of the bounds. A listing without a price or an uptime passes no bound on it. */
function rangesOf(snapshot: Snapshot, query: DirectoryQuery): Range[] {
  const { bounds, orders } = snapshot;
  const ranges: Range[] = [];
  const atLeast = (field: FilterField, bound: number | null): void => {
    if (bound === null) return;
    const start = rankOf(bounds[field], orders[field].asc, bound, false);
    ranges.push({ field, start, end: bounds[field].valued });
  };
  const atMost = (field: FilterField, bound: number | null): void => {
    if (bound === null) return;
    ranges.push({ field, start: 0, end: rankOf(bounds[field], orders[field].asc, bound, true) });
  };
  atLeast("score", query.minScore);
  atLeast("uptime", query.minUptime);
  atMost("price", query.maxPriceMicroUsd);
  return ranges;
}

function rowsOfRange({ bounds, orders }: Snapshot, { field, start, end }: Range): Bitmap {
  const order = orders[field].asc;
  const rows = rowsBefore(bounds[field], order, end);
  if (start > 0) subtract(rows, rowsBefore(bounds[field], order, start));
  return rows;
}

function rowsOfPayee({ payees, payeeStarts, payeeRows, count }: Snapshot, payee: string): Bitmap {
  const number = findText(payees, payee);
  const start = number < 0 ? 0 : (payeeStarts[number] ?? 0);
  const end = number < 0 ? 0 : (payeeStarts[number + 1] ?? 0);
  return bitmapOf(payeeRows.subarray(start, end), count);
}

/** Returns the range of the sort order that can match: a part of it where the sort field has a bound. */
function partOf(snapshot: Snapshot, { sort, order }: DirectoryQuery, ranges: readonly Range[]) {
  const range = ranges.find(({ field }) => field === sort);
  if (range === undefined) return { start: 0, end: snapshot.count };
  const { valued } = snapshot.bounds[range.field];
  if (order === "asc") return { start: range.start, end: range.end };
  return { start: valued - range.end, end: valued - range.start };
}
