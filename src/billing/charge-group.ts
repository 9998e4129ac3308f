/** A charge waits no longer than this for its group. */
export const GROUP_WAIT_MAX_MS = 1;

/** Splits off the first `groupMax` entries of a queue. Usually these are all of it, which is then not copied. */
export function splitGroup<Entry>(
  queue: Entry[],
  groupMax: number,
): { readonly group: readonly Entry[]; readonly rest: Entry[] } {
  if (queue.length <= groupMax) return { group: queue, rest: [] };
  return { group: queue.slice(0, groupMax), rest: queue.slice(groupMax) };
}
