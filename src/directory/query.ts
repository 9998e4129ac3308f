import type { Bitmap } from "./bitmap.ts";
import { payeeKey } from "./payee.ts";
import { select } from "./selection.ts";
import {
  areInMemory,
  assertIndex,
  readRows,
  rowBytes,
  type Snapshot,
  type SnapshotRows,
  type SortField,
  type SortOrder,
} from "./snapshot.ts";
import { wordsOf } from "./words.ts";

/** What a caller asks of the directory; null where a filter is not given. */
export type DirectoryQuery = {
  /** Words that must all occur, the last as the beginning of one; null: no search. */
  readonly words: readonly string[] | null;
  readonly minScore: number | null;
  readonly maxPriceMicroUsd: number | null;
  readonly minUptime: number | null;
  /** The key of a payee. */
  readonly payee: string | null;
  readonly sort: SortField;
  readonly order: SortOrder;
};

/** The query parameters by their names on the wire, already checked. */
export type QueryParameters = {
  readonly q?: string;
  readonly min_score?: number;
  /** A decimal with at most six places. */
  readonly max_price_usd?: string;
  readonly min_uptime?: number;
  readonly payee?: string;
  readonly sort?: SortField;
  readonly order?: SortOrder;
};

const WORDS_MAX = 8;
/** What most callers want to see first. */
const BEST_FIRST: Readonly<Record<SortField, SortOrder>> = {
  score: "desc",
  price: "asc",
  uptime: "desc",
  latency: "asc",
  payers: "desc",
  last_paid: "desc",
};

/** The query of some parameters: by falling score where they say nothing, the best first where they name no order. */
export function queryOf(parameters: QueryParameters): DirectoryQuery {
  const { q = "", payee = "", max_price_usd: maxPrice, sort = "score" } = parameters;
  return {
    words: q.trim() === "" ? null : wordsOf(q).slice(0, WORDS_MAX),
    minScore: parameters.min_score ?? null,
    maxPriceMicroUsd: maxPrice === undefined ? null : microUsd(maxPrice),
    minUptime: parameters.min_uptime ?? null,
    payee: payee.trim() === "" ? null : keyOf(payee.trim()),
    sort,
    order: parameters.order ?? BEST_FIRST[sort],
  };
}

/** EVM addresses are found in any case. What is no address has no listing, but is no fault of the query either. */
function keyOf(payee: string): string {
  return /^0x/i.test(payee) ? payee.toLowerCase() : (payeeKey(payee) ?? payee);
}

function microUsd(decimal: string): number {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}

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
    if (((selected[row >>> 5] ?? 0) & (1 << (row & 31))) === 0) continue;
    if (places.push(at) === limit) break;
  }
  return places;
}

function allPlaces(from: number, end: number, limit: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(limit, end - from)) }, (_, at) => from + at);
}

const COMMA = 0x2c;

/** The listings' texts, separated by commas, between two pieces of JSON. */
export function joinListings(
  snapshot: SnapshotRows,
  rows: readonly number[],
  head: string,
  tail: string,
): Uint8Array<ArrayBuffer> {
  const texts = rows.map((row) => rowBytes(snapshot, row));
  return joinTexts(texts, head, tail);
}

/** The same for a snapshot whose texts may be in a file: a promise where they are. */
export function gatherListings(
  snapshot: SnapshotRows,
  rows: readonly number[],
  head: string,
  tail: string,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  if (areInMemory(snapshot, rows)) return joinListings(snapshot, rows, head, tail);
  return readRows(snapshot, rows).then((texts) => joinTexts(texts, head, tail));
}

function joinTexts(texts: readonly Uint8Array[], head: string, tail: string): Uint8Array<ArrayBuffer> {
  const before = Buffer.from(head);
  const after = Buffer.from(tail);
  const separators = Math.max(0, texts.length - 1);
  const body = new Uint8Array(
    texts.reduce((sum, text) => sum + text.length, before.length + after.length + separators),
  );
  body.set(before, 0);
  let at = before.length;
  for (const [index, text] of texts.entries()) {
    if (index > 0) body[at++] = COMMA;
    body.set(text, at);
    at += text.length;
  }
  body.set(after, at);
  return body;
}
