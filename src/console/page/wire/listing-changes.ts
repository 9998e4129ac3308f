import type { Api } from "./api.ts";
import type { ChangePage, Listing } from "./bodies.ts";
import { Refusal } from "./refusal.ts";

/** One state of a listing that the server still has. */
export type ListingChange = { readonly at: string; readonly listing: Listing | null };

export type ChangeHistory = {
  /** Newest first. */
  readonly changes: readonly ListingChange[];
  /**
   * Whether all was read, not the newest as they are too many, or nothing or not the newest, as the server no longer keeps
   * what was to be read next.
   */
  readonly end: "whole" | "cut" | "gone" | "overtaken";
};

const PAGES_MAX = 40;
const PAGE = 1_000;
/** Changes of all hosts that are read at most, from the oldest on. */
export const FEED_CHANGES_MAX = PAGES_MAX * PAGE;

/**
 * Returns the changes of one host in the feed of changes. The feed names every host and begins with the oldest change, so
 * that the newest are missing where it is longer than what is read.
 */
export async function changesOf(api: Api, host: string, signal: AbortSignal): Promise<ChangeHistory> {
  const changes: ListingChange[] = [];
  let cursor = "";
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = new URLSearchParams({ limit: `${PAGE}`, ...(cursor === "" ? {} : { cursor }) });
    let found: ChangePage;
    try {
      found = await api.read<ChangePage>(`/v1/changes?${query}`, signal);
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 404)) throw error;
      // What follows the cursor may be removed while the feed is read.
      return { changes: changes.reverse(), end: page === 0 ? "gone" : "overtaken" };
    }
    for (const change of found.changes) {
      if (change.host === host) changes.push({ at: change.at, listing: change.listing ?? null });
    }
    if (!found.has_more) return { changes: changes.reverse(), end: "whole" };
    cursor = found.next_cursor;
  }
  return { changes: changes.reverse(), end: "cut" };
}
