export const QUICK = process.argv.includes("--quick");
export const LISTINGS = QUICK ? 8_000 : 80_000;
export const SETTLE_MS = QUICK ? 300 : 3_000;
export const MEGABYTE = 1024 * 1024;
/** What the figures are held against; the longest or highest one counts, the first call included. */
export const BLOCKED_MS_MAX = 20;
const PAGE_MS_MAX = 5;
const SEARCH_MS_MAX = 15;
export const NOT_MODIFIED_MS_MAX = 1;
export const RESIDENT_MB_MAX = 400;
export type Bound = { readonly at: number; readonly ms: number };
export const LONGEST_PAGE: Bound = { at: 1, ms: PAGE_MS_MAX };
export const LONGEST_SEARCH: Bound = { at: 1, ms: SEARCH_MS_MAX };
export const PATHS: readonly (readonly [string, Bound])[] = [
  ["/v1/directory?min_score=50&max_price_usd=0.3&min_uptime=0.5&sort=latency", LONGEST_PAGE],
  ["/v1/directory?q=weather%20reliable", LONGEST_SEARCH],
];
