import type { ChargeEntry } from "../store/account-records.ts";
import { dayOf } from "./period.ts";

/** Entries that nobody waits for, kept as sums until they are taken. */
export type LaterCharges = {
  readonly keep: (entry: ChargeEntry) => void;
  /** Returns the sums, and keeps none of them. */
  readonly take: () => ChargeEntry[];
  readonly isEmpty: () => boolean;
};

const LATER_MS = 1_000;

/** Sums kept for calls of no units. When the disk takes none for so long that there are more, calls go uncounted. */
const LATER_ENTRIES_MAX = 10_000;

/** Calls `write`, which is to take them, within a second of the first that is kept. */
export function createLaterCharges(write: () => void): LaterCharges {
  let sums = new Map<string, ChargeEntry>();
  let timer: Timer | undefined;
  return {
    keep(entry) {
      const key = `${entry.planPeriodId} ${dayOf(entry.at)} ${entry.endpoint}`;
      const known = sums.get(key);
      if (known === undefined && sums.size >= LATER_ENTRIES_MAX) return;
      sums.set(key, known === undefined ? entry : { ...known, calls: known.calls + entry.calls });
      timer ??= setTimeout(write, LATER_MS).unref();
    },
    take() {
      clearTimeout(timer);
      timer = undefined;
      const entries = [...sums.values()];
      sums = new Map();
      return entries;
    },
    isEmpty: () => sums.size === 0,
  };
}
