import type { FitsMonth, PlainUnitsOfMonth } from "../store/admit-port.ts";
import { unitsBeforeMark } from "./quota-marks.ts";
import { ledgerOf, ledgerWhile, unitsLeft } from "./usage-ledger.ts";

/**
 * The hard stop where several nodes charge: returns for each entry whether the month has the units left, in order of
 * arrival. An entry of a plan period that has ended began under it, and may have what that one had left.
 */
export const fitsMonth: FitsMonth = (month, entries) => {
  const ledger = ledgerOf(month);
  return entries.map(({ planPeriodId, units }) => {
    const tally = ledger.tallies.find((known) => known.planPeriodId === planPeriodId);
    if (tally === undefined) return false;
    if (units > 0 && units > unitsLeft(ledgerWhile(ledger, tally))) return false;
    tally.units += units;
    return true;
  });
};

/**
 * Up to there nothing is to be decided. What is left shrinks by what is charged and no faster, so that it may be asked
 * beforehand.
 */
export const plainUnitsOfMonth: PlainUnitsOfMonth = (month) => {
  const ledger = ledgerOf(month);
  return Math.min(ledger.current.units + unitsLeft(ledger), unitsBeforeMark(ledger));
};
