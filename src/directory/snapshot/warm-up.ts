import { joinListings } from "./listing-texts.ts";
import { findMatches } from "./matches.ts";
import { type QueryParameters, queryOf } from "./query.ts";
import { findHost, type Snapshot } from "./snapshot.ts";

const QUERIES: readonly QueryParameters[] = [
  {},
  { min_score: 50, min_uptime: 0.5, max_price_usd: "0.1", sort: "latency" },
  { min_score: 90, sort: "score", order: "asc" },
  { q: "a service", sort: "price" },
  { payee: "nobody", sort: "payers" },
];
const PAGE_LIMIT = 50;

/** Runs a query of each kind, so that no caller waits for code that runs for the first time. */
export function warmUp(snapshot: Snapshot): void {
  for (const parameters of QUERIES) {
    const { rows } = findMatches(snapshot, queryOf(parameters), 0, PAGE_LIMIT);
    joinListings(snapshot, rows, "[", "]");
  }
  findHost(snapshot, "a.example");
}
