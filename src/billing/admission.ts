import type { FitsMonth, PlainUnitsOfMonth } from "../store/admit-port.ts";
import type { Tally } from "./plan-period-tally.ts";
import { unitsBeforeMark } from "./quota-marks.ts";
import { type Ledger, ledgerOf, ledgerWhile, unitsLeft, wouldPassSpendLimit } from "./usage-ledger.ts";

/**
 * The hard stop where several nodes charge: returns for each entry whether the month has the units left, in order of
 * arrival. An entry of a plan period that has ended began under it, and may have what that one had left, as far as the spend
 * limit pays for the whole month.
 */
export const fitsMonth: FitsMonth = (month, entries) => {
  const ledger = ledgerOf(month);
  return entries.map(({ planPeriodId, units }) => {
    const tally = ledger.tallies.find((known) => known.planPeriodId === planPeriodId);
    if (tally === undefined || (units > 0 && !hasLeft(ledger, tally, units))) return false;
    tally.units += units;
    return true;
  });
};

function hasLeft(ledger: Ledger, tally: Tally, units: number): boolean {
  if (units > unitsLeft(ledgerWhile(ledger, tally))) return false;
  return tally === ledger.current || !wouldPassSpendLimit(ledger, tally, units);
}

/**
 * Up to there nothing is to be decided. What is left shrinks by what is charged and no faster, so that it may be asked
 * beforehand.
 */
export const plainUnitsOfMonth: PlainUnitsOfMonth = (month) => {
  const ledger = ledgerOf(month);
  return Math.min(ledger.current.units + unitsLeft(ledger), unitsBeforeMark(ledger));
};
