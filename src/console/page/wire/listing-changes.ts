import type { Api } from "./api.ts";
import type { ChangePage, Listing } from "./bodies.ts";
import { Refusal } from "./refusal.ts";

/** One state of a listing that the server still has. */
export type ListingChange = { readonly at: string; readonly listing: Listing | null };

const PAGES_MAX = 40;
const PAGE = 1_000;

/**
 * Returns the changes of one host in the feed of changes, newest first, and whether all of the feed was read. The
 * feed names every host, so that this reads up to 40,000 changes.
 */
export async function changesOf(
  api: Api,
  host: string,
  signal: AbortSignal,
): Promise<{ readonly changes: readonly ListingChange[]; readonly isWhole: boolean }> {
  const changes: ListingChange[] = [];
  let cursor = "";
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = new URLSearchParams({ limit: `${PAGE}`, ...(cursor === "" ? {} : { cursor }) });
    let found: ChangePage;
    try {
      found = await api.read<ChangePage>(`/v1/changes?${query}`, signal);
    } catch (error) {
      // The beginning of the feed is no longer kept.
      if (error instanceof Refusal && error.status === 404)
        return { changes: changes.reverse(), isWhole: false };
      throw error;
    }
    for (const change of found.changes) {
      if (change.host === host) changes.push({ at: change.at, listing: change.listing ?? null });
    }
    if (!found.has_more) return { changes: changes.reverse(), isWhole: true };
    cursor = found.next_cursor;
  }
  return { changes: changes.reverse(), isWhole: false };
}
