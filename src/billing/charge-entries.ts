import type { Store } from "../store/open.ts";
import { dayOf } from "./period.ts";

/** A charge, or a call of no units. */
export type ChargeEntry = {
  readonly accountId: string;
  readonly planPeriodId: number;
  readonly at: number;
  readonly endpoint: string;
  readonly units: number;
  readonly calls: number;
};

const ENDPOINT_CHARS_MAX = 64;
const DAY_MS = 86_400_000;

/**
 * Events, counters and roll-up, each once for every row that the entries touch: what one account is charged for
 * one endpoint in one commit is one event.
 */
export function writeEntries(store: Store, entries: readonly ChargeEntry[]): void {
  const sums = sumsOf(entries);
  const counters = new Map<number, { units: number; calls: number }>();
  for (const { planPeriodId, units, calls } of sums) {
    const counter = counters.get(planPeriodId) ?? { units: 0, calls: 0 };
    counters.set(planPeriodId, { units: counter.units + units, calls: counter.calls + calls });
  }
  store.transact(() => {
    for (const [planPeriodId, { units, calls }] of counters)
      store.planPeriods.add(planPeriodId, units, calls);
    for (const { accountId, planPeriodId, at, endpoint, units, calls } of sums) {
      if (units > 0) store.usage.insertEvent({ accountId, planPeriodId, at, endpoint, units });
      store.usage.addDay({ accountId, day: dayOf(at), endpoint, calls, units });
    }
  });
}

/** The entries of each plan period, day and endpoint as one. Neighbours mostly belong together. */
function sumsOf(entries: readonly ChargeEntry[]): readonly ChargeEntry[] {
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
  return [...sums.values()];
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

/** What usage is grouped by must stay short: anything else is a bug. */
export function checkEndpoint(endpoint: string): string {
  if (endpoint.length === 0 || endpoint.length > ENDPOINT_CHARS_MAX) {
    throw new Error(`an endpoint has 1 to ${ENDPOINT_CHARS_MAX} characters, not ${endpoint.length}`);
  }
  return endpoint;
}
