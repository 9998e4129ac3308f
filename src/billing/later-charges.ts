import { dayOf } from "../platform/days.ts";
import type { ChargeEntry } from "../store/account-records.ts";

/** Charges that no call waits for, summed in memory until they are written. */
export type LaterCharges = {
  readonly keep: (entry: ChargeEntry) => void;
  /** Removes and returns all sums, or those for which `isTaken` is true. */
  readonly take: (isTaken?: (entry: ChargeEntry) => boolean) => ChargeEntry[];
  readonly isEmpty: () => boolean;
};

const LATER_MS = 1_000;

/** Sums held in memory while the disk takes no writes. Past this, calls that cost no units go uncounted. */
const LATER_ENTRIES_MAX = 10_000;

/** Calls `write`, which must `take` the sums, within a second of the first that is kept. */
export function createLaterCharges(write: () => void): LaterCharges {
  const sums = new Map<string, ChargeEntry>();
  let timer: Timer | undefined;
  return {
    keep(entry) {
      const key = `${entry.planPeriodId} ${dayOf(entry.at)} ${entry.endpoint}`;
      const known = sums.get(key);
      if (known === undefined && sums.size >= LATER_ENTRIES_MAX) return;
      sums.set(key, known === undefined ? entry : { ...known, calls: known.calls + entry.calls });
      timer ??= setTimeout(() => {
        timer = undefined;
        write();
      }, LATER_MS).unref();
    },
    take(isTaken = () => true) {
      const taken = [...sums].filter(([, entry]) => isTaken(entry));
      for (const [key] of taken) sums.delete(key);
      if (sums.size === 0) {
        clearTimeout(timer);
        timer = undefined;
      }
      return taken.map(([, entry]) => entry);
    },
    isEmpty: () => sums.size === 0,
  };
}
