import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Removes all that is due, up to `sliceMax` at a time, so that calls go on between two. `remove` returns how many it has
 * removed: the last slice is the first that is not full.
 */
export async function removeInSlices(
  remove: (limit: number) => number | Promise<number>,
  sliceMax: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await remove(sliceMax)) === sliceMax) await nextTurn();
}
