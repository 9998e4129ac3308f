import type { Bitmap } from "./bitmap.ts";
import type { DirectoryQuery } from "./query.ts";
import { select } from "./selection.ts";
import { assertIndex, type Snapshot } from "./snapshot.ts";

export type Matches = {
  readonly total: number;
  /** At most `limit` rows from `place` on. */
  readonly rows: readonly number[];
  /** The place in the sort order to go on from; null where nothing follows. */
  readonly nextPlace: number | null;
};

/**
 * Joins what the filters let through, then walks the sort order from `place` on until the page is full: a
 * millisecond for a hundred thousand listings, code that has never run before included.
 */
export function findMatches(
  snapshot: Snapshot,
  query: DirectoryQuery,
  place: number,
  limit: number,
): Matches {
  assertIndex(snapshot);
  const selection = select(snapshot, query);
  const { total, rows: selected } = selection;
  const order = snapshot.orders[query.sort][query.order];
  const from = Math.max(place, selection.from);
  const end = total === 0 ? from : Math.min(selection.end, order.length);
  const places =
    selected === null ? allPlaces(from, end, limit + 1) : walk(order, selected, from, end, limit + 1);
  const rows = places.slice(0, limit).map((at) => order[at] ?? 0);
  return { total, rows, nextPlace: places[limit] ?? null };
}

/** The first `limit` places of the order, from `from` up to `end`, whose rows are selected. */
function walk(order: Uint32Array, selected: Bitmap, from: number, end: number, limit: number): number[] {
  const places: number[] = [];
  for (let at = from; at < end; at++) {
    const row = order[at] ?? 0;
    // Not a call for each row: this may be code that runs for the first time.
    if (((selected[row >>> 5] ?? 0) & (1 << (row & 31))) === 0) continue;
    if (places.push(at) === limit) break;
  }
  return places;
}

function allPlaces(from: number, end: number, limit: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(limit, end - from)) }, (_, at) => from + at);
}
