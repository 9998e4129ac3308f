import { QUERY_WORDS_MAX, type SortField } from "../../contract/words.ts";
import { payeeKey } from "../payee.ts";
import type { SortOrder } from "./snapshot.ts";
import { wordsOf } from "./words.ts";

/** A query of the directory; null for a filter that is not given. */
export type DirectoryQuery = {
  /** Words that must all occur, the last as a prefix; null without a search. */
  readonly words: readonly string[] | null;
  readonly minScore: number | null;
  readonly maxPriceMicroUsd: number | null;
  readonly minUptime: number | null;
  /** The key of a payee. */
  readonly payee: string | null;
  readonly sort: SortField;
  readonly order: SortOrder;
};

/** The validated query parameters, by their names on the wire. */
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

/** The default order of each field. */
const BEST_FIRST: Readonly<Record<SortField, SortOrder>> = {
  score: "desc",
  price: "asc",
  uptime: "desc",
  latency: "asc",
  payers: "desc",
  last_paid: "desc",
};

/**
 * Returns the query of parameters. It sorts by descending score unless they name a field, whose default order is the
 * best first.
 */
export function queryOf(parameters: QueryParameters): DirectoryQuery {
  const { q = "", payee = "", max_price_usd: maxPrice, sort = "score" } = parameters;
  return {
    words: q.trim() === "" ? null : wordsOf(q).slice(0, QUERY_WORDS_MAX),
    minScore: parameters.min_score ?? null,
    maxPriceMicroUsd: maxPrice === undefined ? null : microUsd(maxPrice),
    minUptime: parameters.min_uptime ?? null,
    payee: payee.trim() === "" ? null : keyOf(payee.trim()),
    sort,
    order: parameters.order ?? BEST_FIRST[sort],
  };
}

/**
 * Returns the key of a payee; EVM addresses are found in any case. A text that is no address matches nothing, which
 * is no error.
 */
function keyOf(payee: string): string {
  return /^0x/i.test(payee) ? payee.toLowerCase() : (payeeKey(payee) ?? payee);
}

function microUsd(decimal: string): number {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}
