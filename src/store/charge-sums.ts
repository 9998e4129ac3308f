import { DAY_MS, dayOf } from "../platform/days.ts";
import type { ChargeEntry } from "./account-records.ts";

/** The entries of one account, plan period, day and endpoint as one. */
export type ChargeSum = ChargeEntry & { readonly day: string };

/**
 * Returns entries added up by account, plan period, day and endpoint: what one account is charged for one endpoint in
 * one commit is one event. Neighbours mostly belong together. A plan period names its account, unless a fail-over has
 * lost it: the database gives its number again.
 */
export function chargeSums(entries: readonly ChargeEntry[]): readonly ChargeSum[] {
  const sums = new Map<string, Summed>();
  let sum: Summed | undefined;
  for (const entry of entries) {
    const dayNumber = Math.floor(entry.at / DAY_MS);
    if (sum === undefined || !isSummedWith(sum, entry, dayNumber)) {
      const key = `${entry.accountId} ${entry.planPeriodId} ${dayNumber} ${entry.endpoint}`;
      sum = sums.get(key) ?? { entry, dayNumber, units: 0, calls: 0 };
      sums.set(key, sum);
    }
    sum.units += entry.units;
    sum.calls += entry.calls;
  }
  return Array.from(sums.values(), ({ entry, units, calls }) => ({
    ...entry,
    units,
    calls,
    day: dayOf(entry.at),
  }));
}

/** Returns what each plan period takes of the sums. */
export function planPeriodSums(
  sums: readonly ChargeSum[],
): ReadonlyMap<number, { readonly units: number; readonly calls: number }> {
  const counters = new Map<number, { readonly units: number; readonly calls: number }>();
  for (const { planPeriodId, units, calls } of sums) {
    const counter = counters.get(planPeriodId) ?? { units: 0, calls: 0 };
    counters.set(planPeriodId, { units: counter.units + units, calls: counter.calls + calls });
  }
  return counters;
}

type Summed = { readonly entry: ChargeEntry; readonly dayNumber: number; units: number; calls: number };

function isSummedWith({ entry, dayNumber }: Summed, other: ChargeEntry, otherDay: number): boolean {
  return (
    entry.planPeriodId === other.planPeriodId &&
    entry.accountId === other.accountId &&
    entry.endpoint === other.endpoint &&
    dayNumber === otherDay
  );
}
