/** A usage period: a calendar month in UTC, from its first millisecond up to the first of the next month. */
export type Period = { readonly start: number; readonly end: number };

/** The month in which a moment lies. */
export function periodOf(at: number): Period {
  const date = new Date(at);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

/** A moment as callers read it, to the second: "2026-12-01T00:00:00Z". */
export function secondOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
