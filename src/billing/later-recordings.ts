import type { ChargeEntry } from "../store/account-records.ts";
import type { UsagePort } from "../store/billing-port.ts";
import { chargeSums } from "../store/charge-sums.ts";
import type { Upkeep } from "../store/port.ts";
import { RowsHeldError, StorageError } from "../store/storage-error.ts";
import type { LanesApart } from "./lanes-apart.ts";
import type { LaterCharges } from "./later-charges.ts";

type Recording = { readonly entries: readonly ChargeEntry[]; readonly done: Promise<void> };

/** Writes the sums that no call waits for to a shared store, those of accounts that are apart each by itself. */
export function createLaterRecordings(dependencies: {
  readonly store: Pick<UsagePort, "record"> & Pick<Upkeep, "isOpen">;
  readonly later: LaterCharges;
  readonly apart: Pick<LanesApart, "begin" | "end">;
  /** Whether the account of an entry is not apart. */
  readonly isCommon: (entry: ChargeEntry) => boolean;
  /** Resolves once sums that go with charges of calls, and are on their way now, are settled. */
  readonly withCalls: () => Promise<void>;
}): { readonly write: (accountId?: string) => Promise<void> } {
  const { store, later, apart, isCommon, withCalls } = dependencies;
  const open = new Set<Recording>();

  /** Returns whether they were written. */
  async function record(entries: readonly ChargeEntry[]): Promise<boolean> {
    if (entries.length === 0 || !store.isOpen()) return true;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const recording = { entries, done };
    open.add(recording);
    try {
      const sums = chargeSums(entries);
      await store.record({ sums, replies: [], chunks: [], quotaMarks: [], keptAt: null }, "at_once");
      return true;
    } catch (error) {
      // Of an unknown fate: a call of no units that is missing does less harm than one that counts twice.
      if (error instanceof StorageError) for (const entry of entries) later.keep(entry);
      if (error instanceof RowsHeldError) for (const { accountId } of entries) apart.begin(accountId);
      return false;
    } finally {
      open.delete(recording);
      resolve();
    }
  }

  return {
    /**
     * Resolves once what waits for the account, or without one for all, was written or waits again. What comes in
     * meanwhile, and charges of accounts that are apart, are not waited for.
     */
    async write(accountId) {
      const isMeant = (entry: ChargeEntry) => accountId === undefined || entry.accountId === accountId;
      const onTheirWay = [...open].filter(({ entries }) => entries.some(isMeant));
      await Promise.all([withCalls(), ...onTheirWay.map(({ done }) => done)]);
      await record(later.take((entry) => isMeant(entry) && isCommon(entry)));
      for (const [held, entries] of Map.groupBy(later.take(isMeant), (entry) => entry.accountId)) {
        if (await record(entries)) apart.end(held);
      }
    },
  };
}
