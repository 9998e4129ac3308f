import { payeeKey } from "./payee.ts";
import { findText } from "./shared-bytes.ts";
import { rowBytes, SORT_FIELDS, type Snapshot, type SortField, type SortOrder } from "./snapshot.ts";
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

/** The query parameters as they came. */
export type QueryText = {
  readonly [Name in "q" | "min_score" | "max_price_usd" | "min_uptime" | "payee" | "sort" | "order"]?:
    | string
    | undefined;
};

export type QueryRead =
  | { readonly ok: true; readonly query: DirectoryQuery }
  | { readonly ok: false; readonly message: string };

const TEXT_LENGTH_MAX = 200;
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

/** Reads the query parameters; the message names the one that is wrong and what it may be. */
export function readQuery(text: QueryText): QueryRead {
  const problems: string[] = [];
  const given = (name: keyof QueryText): string | null => text[name]?.trim() || null;
  const bounded = (name: keyof QueryText, shape: RegExp, max: number, says: string): number | null => {
    const value = given(name);
    const number = value !== null && shape.test(value) ? Number(value) : Number.NaN;
    if (value !== null && !(number <= max)) problems.push(`${name} must be ${says}.`);
    return value === null || Number.isNaN(number) ? null : number;
  };
  const price = bounded("max_price_usd", /^\d{1,9}(\.\d{1,6})?$/, 999_999_999.999999, "a price in USD with at most six decimals");
  const sort = SORT_FIELDS.find((field) => field === (given("sort") ?? "score"));
  if (sort === undefined) problems.push(`sort must be one of ${SORT_FIELDS.join(", ")}.`);
  const order = given("order") ?? BEST_FIRST[sort ?? "score"];
  if (order !== "asc" && order !== "desc") problems.push("order must be asc or desc.");
  const q = given("q");
  if (q !== null && q.length > TEXT_LENGTH_MAX) problems.push(`q must be at most ${TEXT_LENGTH_MAX} characters.`);
  const payee = given("payee");
  if (payee !== null && payee.length > TEXT_LENGTH_MAX) problems.push(`payee must be at most ${TEXT_LENGTH_MAX} characters.`);
  const query: DirectoryQuery = {
    words: q === null ? null : wordsOf(q.slice(0, TEXT_LENGTH_MAX)).slice(0, WORDS_MAX),
    minScore: bounded("min_score", /^\d{1,3}(\.\d{1,9})?$/, 100, "a number from 0 to 100"),
    maxPriceMicroUsd: price === null ? null : microUsd(given("max_price_usd") ?? "0"),
    minUptime: bounded("min_uptime", /^[01](\.\d{1,9})?$/, 1, "a number from 0 to 1"),
    // A payee that is no address has no listing, but is no fault either: a caller may search for what he was sent.
    payee: payee === null ? null : (payeeKey(payee) ?? payeeKey(payee.toLowerCase()) ?? payee),
    sort: sort ?? "score",
    order: order === "asc" ? "asc" : "desc",
  };
  return problems.length === 0 ? { ok: true, query } : { ok: false, message: problems.join(" ") };
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
export function findMatches(snapshot: Snapshot, query: DirectoryQuery, place: number, limit: number): Matches {
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

/** One text for each query, whatever the spelling of its parameters. */
export function queryKey(query: DirectoryQuery): string {
  const { words, minScore, maxPriceMicroUsd, minUptime, payee, sort, order } = query;
  return JSON.stringify([words, minScore, maxPriceMicroUsd, minUptime, payee, sort, order]);
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
  const body = new Uint8Array(texts.reduce((sum, text) => sum + text.length, before.length + after.length + separators));
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
