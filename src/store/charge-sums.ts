import { DAY_MS, dayOf } from "../platform/days.ts";
import type { ChargeEntry } from "./account-records.ts";

/** The entries of one plan period, day and endpoint as one. */
export type ChargeSum = ChargeEntry & { readonly day: string };

/**
 * Returns entries added up by plan period, day and endpoint: what one account is charged for one endpoint in one
 * commit is one event. Neighbours mostly belong together.
 */
export function chargeSums(entries: readonly ChargeEntry[]): readonly ChargeSum[] {
  const sums = new Map<string, Summed>();
  let sum: Summed | undefined;
  for (const entry of entries) {
    if (sum === undefined || !isSummedWith(sum, entry)) {
      const key = `${entry.planPeriodId} ${dayNumber(entry)} ${entry.endpoint}`;
      sum = sums.get(key) ?? { ...entry, units: 0, calls: 0 };
      sums.set(key, sum);
    }
    sum.units += entry.units;
    sum.calls += entry.calls;
  }
  return Array.from(sums.values(), (each) => ({ ...each, day: dayOf(each.at) }));
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

type Summed = ChargeEntry & { units: number; calls: number };

function isSummedWith(one: ChargeEntry, other: ChargeEntry): boolean {
  return (
    one.planPeriodId === other.planPeriodId &&
    one.endpoint === other.endpoint &&
    dayNumber(one) === dayNumber(other)
  );
}

const dayNumber = ({ at }: ChargeEntry): number => Math.floor(at / DAY_MS);
