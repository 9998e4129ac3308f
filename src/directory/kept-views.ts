import type { Clock } from "../platform/clock.ts";
import type { View } from "./directory-health.ts";
import { freeIndex } from "./snapshot/snapshot.ts";
import type { Freshness, Published } from "./sync/syncer.ts";

type Kept = { readonly published: Published; readonly freshness: Freshness };

const VIEWS_KEPT = 3;

/** Keeps the three newest states. The first is served; walks over pages continue in the state in which they began. */
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
  const freeIndexes = (dropped: readonly Kept[]): void => {
    for (const { published } of dropped) freeIndex(published.snapshot);
  };
  /** Swaps the states atomically, then frees the dropped ones. */
  const swap = (next: readonly Kept[]): void => {
    const former = kept;
    kept = next;
    freeIndexes(former.filter((each) => !next.includes(each)));
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
    /** Replaces the newest state by the same listings in other memory. */
    replaceNewest: (published: Published, freshness: Freshness): void =>
      swap([{ published, freshness }, ...kept.slice(1)]),
    /** Drops the oldest of three states. */
    dropOldest: (): void => swap(kept.slice(0, VIEWS_KEPT - 1)),
    /** Updates the freshness of the newest state. */
    refresh(freshness: Partial<Freshness>): void {
      const [newest] = kept;
      if (newest === undefined) return;
      kept = [{ ...newest, freshness: { ...newest.freshness, ...freshness } }, ...kept.slice(1)];
    },
  };
}
