import { type Bitmap, bitmapOf, countRows, keepCommon, keepOthers } from "./bitmap.ts";
import type { DirectoryQuery } from "./query.ts";
import type { FilterField, Snapshot } from "./snapshot.ts";
import { searchTextIndex } from "./text-index.ts";
import { findText } from "./text-table.ts";
import { rankOf, rowsBefore } from "./value-bounds.ts";

/** What the filters of a query let through. */
export type Selection = {
  readonly total: number;
  /** Null: every row. */
  readonly rows: Bitmap | null;
  /** The part of the sort order in which all of these rows lie. */
  readonly from: number;
  readonly end: number;
};

/** Ranks of a field's rising order, the last one excluded. */
type Range = { readonly field: FilterField; readonly from: number; readonly end: number };

/** Joins what each filter lets through; none of them looks at every listing. */
export function select(snapshot: Snapshot, query: DirectoryQuery): Selection {
  const ranges = rangesOf(snapshot, query);
  let rows: Bitmap | null = null;
  const keep = (found: Bitmap): void => {
    if (rows === null) rows = found;
    else keepCommon(rows, found);
  };
  if (query.words !== null) keep(searchTextIndex(snapshot.text, query.words, snapshot.count));
  if (query.payee !== null) keep(rowsOfPayee(snapshot, query.payee));
  for (const range of ranges) keep(rowsOfRange(snapshot, range));
  const total = rows === null ? snapshot.count : countRows(rows);
  return { total, rows, ...partOf(snapshot, query, ranges) };
}

/** A listing without a price or uptime passes no bound on it. */
function rangesOf(snapshot: Snapshot, query: DirectoryQuery): Range[] {
  const { bounds, orders } = snapshot;
  const ranges: Range[] = [];
  const atLeast = (field: FilterField, bound: number | null): void => {
    if (bound === null) return;
    const from = rankOf(bounds[field], orders[field].asc, bound, false);
    ranges.push({ field, from, end: bounds[field].valued });
  };
  const atMost = (field: FilterField, bound: number | null): void => {
    if (bound === null) return;
    ranges.push({ field, from: 0, end: rankOf(bounds[field], orders[field].asc, bound, true) });
  };
  atLeast("score", query.minScore);
  atLeast("uptime", query.minUptime);
  atMost("price", query.maxPriceMicroUsd);
  return ranges;
}

function rowsOfRange({ bounds, orders }: Snapshot, { field, from, end }: Range): Bitmap {
  const order = orders[field].asc;
  const rows = rowsBefore(bounds[field], order, end);
  if (from > 0) keepOthers(rows, rowsBefore(bounds[field], order, from));
  return rows;
}

function rowsOfPayee({ payees, payeeStarts, payeeRows, count }: Snapshot, payee: string): Bitmap {
  const number = findText(payees, payee);
  const from = number < 0 ? 0 : (payeeStarts[number] ?? 0);
  const end = number < 0 ? 0 : (payeeStarts[number + 1] ?? 0);
  return bitmapOf(payeeRows.subarray(from, end), count);
}

/** A bound on the very field that is sorted by leaves one piece of the order. */
function partOf(snapshot: Snapshot, { sort, order }: DirectoryQuery, ranges: readonly Range[]) {
  const range = ranges.find(({ field }) => field === sort);
  if (range === undefined) return { from: 0, end: snapshot.count };
  const { valued } = snapshot.bounds[range.field];
  if (order === "asc") return { from: range.from, end: range.end };
  return { from: valued - range.end, end: valued - range.from };
}
