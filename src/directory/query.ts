import { payeeKey } from "./payee.ts";
import { findText } from "./shared-bytes.ts";
import { rowBytes, type Snapshot, type SortField, type SortOrder } from "./snapshot.ts";
import { searchTextIndex } from "./text-index.ts";
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

/** Walks the sort order once: linear in the number of listings, a few milliseconds for a hundred thousand. */
export function findMatches(
  snapshot: Snapshot,
  query: DirectoryQuery,
  place: number,
  limit: number,
): Matches {
  const matches = createMatcher(snapshot, query);
  const order = snapshot.orders[query.sort][query.order];
  const rows: number[] = [];
  let total = 0;
  let nextPlace: number | null = null;
  for (let at = 0; at < order.length; at++) {
    const row = order[at] ?? 0;
    if (!matches(row)) continue;
    total += 1;
    if (at < place) continue;
    if (rows.length < limit) rows.push(row);
    else nextPlace ??= at;
  }
  return { total, rows, nextPlace };
}

/** A listing without a price or uptime passes no bound on it. */
function createMatcher(snapshot: Snapshot, query: DirectoryQuery): (row: number) => boolean {
  const { words, payee } = query;
  const marks = words === null ? null : searchTextIndex(snapshot.text, words, snapshot.count);
  // Text without a letter or a digit finds nothing.
  const wordCount = words === null || words.length === 0 ? -1 : words.length;
  const payeeNumber = payee === null ? -1 : findText(snapshot.payees, payee);
  const { score, price, uptime } = snapshot.columns;
  const { rowPayee } = snapshot;
  const { minScore, maxPriceMicroUsd, minUptime } = query;
  return (row) =>
    (marks === null || marks[row] === wordCount) &&
    (minScore === null || (score[row] ?? 0) >= minScore) &&
    (maxPriceMicroUsd === null || (price[row] ?? 0) <= maxPriceMicroUsd) &&
    (minUptime === null || (uptime[row] ?? 0) >= minUptime) &&
    (payee === null || rowPayee[row] === payeeNumber);
}

const COMMA = 0x2c;

/** The listings' texts, separated by commas, between two pieces of JSON. */
export function joinListings(
  snapshot: Snapshot,
  rows: readonly number[],
  head: string,
  tail: string,
): Uint8Array<ArrayBuffer> {
  const texts = rows.map((row) => rowBytes(snapshot, row));
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
