/** One page of a list, newest first: what every such list of an account is answered with. */
export type CursorPage<Item> = {
  readonly data: Item[];
  readonly has_more: boolean;
  /** For `starting_after`; null on the last page. */
  readonly next_cursor: string | null;
};

/** Returns the page of the first `limit` of what was found: one more than them where others follow. */
export function cursorPage<Found, Item>(
  found: readonly Found[],
  limit: number,
  { view, idOf }: { readonly view: (found: Found) => Item; readonly idOf: (found: Found) => string },
): CursorPage<Item> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = found.length > limit;
  return {
    data: shown.map(view),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? idOf(last) : null,
  };
}
