import type { ChargeEntry } from "../store/account-records.ts";
import type { QuotaMark } from "../store/billing-port.ts";
import { secondOf } from "./period.ts";
import { allowance, type Ledger } from "./usage-ledger.ts";

const PERCENTS = [80, 100] as const;

/**
 * Returns the quota marks (shares of the included units) that these charges cross. A charge of a plan period that has
 * ended crosses none of the running one. `ledgerOf` returns the ledger before these charges.
 */
export function quotaMarks(
  charges: readonly ChargeEntry[],
  ledgerOf: (accountId: string) => Ledger | null,
  at: number,
): QuotaMark[] {
  const charged = new Map<number, { readonly accountId: string; units: number }>();
  for (const { accountId, planPeriodId, units } of charges) {
    if (units === 0) continue;
    const sum = charged.get(planPeriodId);
    if (sum === undefined) charged.set(planPeriodId, { accountId, units });
    else sum.units += units;
  }
  return [...charged].flatMap(([planPeriodId, { accountId, units }]) => {
    const ledger = ledgerOf(accountId);
    return ledger?.current.planPeriodId === planPeriodId ? marksOf(ledger, units, at) : [];
  });
}

/** Returns the quota marks that further units of a ledger cross. */
export function marksOf(ledger: Ledger, added: number, at: number): QuotaMark[] {
  const { accountId, period, current } = ledger;
  const limit = allowance(ledger);
  const units = current.units + added;
  const reached = PERCENTS.filter(
    (percent) => limit > 0 && current.units * 100 < limit * percent && units * 100 >= limit * percent,
  );
  // Marks are rarely crossed: nothing is allocated before one is.
  if (reached.length === 0) return [];
  const data = {
    plan: current.plan,
    period: { start: secondOf(period.start), end: secondOf(period.end) },
    units,
    included_units: limit,
    remaining_units: Math.max(0, limit - units),
  };
  return reached.map((percent) => ({
    accountId,
    periodStart: period.start,
    percent,
    event: { type: `quota.${percent}`, at: Math.floor(at), data },
  }));
}

/** Returns the units of the running plan period up to which no further quota mark is crossed; Infinity after the last. */
export function unitsBeforeMark(ledger: Ledger): number {
  const limit = allowance(ledger);
  const marks = PERCENTS.map((percent) => Math.ceil((limit * percent) / 100));
  return Math.min(...marks.filter((mark) => mark > ledger.current.units).map((mark) => mark - 1));
}
