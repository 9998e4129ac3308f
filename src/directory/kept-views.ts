import type { Clock } from "../platform/clock.ts";
import type { View } from "./directory-health.ts";
import { freeIndex } from "./snapshot/snapshot.ts";
import type { Freshness, Published } from "./sync/syncer.ts";

type Kept = { readonly published: Published; readonly freshness: Freshness };

const VIEWS_KEPT = 3;

/** Keeps the newest states, at most three: the first is served, on the others walks over pages began. */
export function createKeptViews({ clock, staleMs }: { readonly clock: Clock; readonly staleMs: number }) {
  let kept: readonly Kept[] = [];

  const viewAt = ({ published, freshness }: Kept): View => {
    const sinceMs = Math.max(0, clock.now() - freshness.syncedAt);
    return {
      ...published,
      syncedAt: freshness.syncedAt,
      ageSeconds: Math.floor((sinceMs + freshness.upstreamAgeMs) / 1000),
      stale: sinceMs > staleMs,
      quarantined: freshness.quarantined,
    };
  };
  const giveUp = (dropped: readonly Kept[]): void => {
    for (const { published } of dropped) freeIndex(published.snapshot);
  };
  /** Swaps in one step; what is given up is so afterwards. */
  const swap = (next: readonly Kept[]): void => {
    const former = kept;
    kept = next;
    giveUp(former.filter((each) => !next.includes(each)));
  };

  return {
    /** The newest state, null before the first. */
    newest: (): View | null => (kept[0] === undefined ? null : viewAt(kept[0])),
    /** Returns a kept state by its version and the start of its digest, or null. */
    find(version: number, digestStart: string): View | null {
      const found = kept.find(({ published: { snapshot } }) => {
        return snapshot.version === version && snapshot.digest.startsWith(digestStart);
      });
      return found === undefined ? null : viewAt(found);
    },
    add: (published: Published, freshness: Freshness): void =>
      swap([{ published, freshness }, ...kept.slice(0, VIEWS_KEPT - 1)]),
    /** Puts the same listings in another memory in the place of the newest. */
    replaceNewest: (published: Published, freshness: Freshness): void =>
      swap([{ published, freshness }, ...kept.slice(1)]),
    /** Makes room for one more. */
    dropOldest: (): void => swap(kept.slice(0, VIEWS_KEPT - 1)),
    /** Says anew how fresh the newest is. */
    refresh(freshness: Partial<Freshness>): void {
      const [newest] = kept;
      if (newest === undefined) return;
      kept = [{ ...newest, freshness: { ...newest.freshness, ...freshness } }, ...kept.slice(1)];
    },
  };
}
