import type { PlanName } from "../contract/words.ts";
import { shareOf } from "./money.ts";
import type { Period } from "./period.ts";

/**
 * The time for which an account had one plan within a month, with the plan's monthly price and units as they were at its
 * start, and the units that were charged in it.
 */
export type PlanPeriod = {
  readonly plan: PlanName;
  readonly monthlyPriceMicroUsd: number;
  readonly includedUnits: number;
  readonly overagePriceMicroUsd: number | null;
  readonly startsAt: number;
  /** The end of the month while it runs. */
  readonly endsAt: number;
  readonly units: number;
  /** Units that an operator credited during it; they are valid for the month. */
  readonly creditedUnits: number;
};

/** The plan periods of one month, in order of their starts; at least one. */
export type PlanPeriods = readonly PlanPeriod[];

/** Returns the part of the monthly price that a plan period costs: its share of the month's seconds, rounded half up. */
export function basePrices(period: Period, planPeriods: PlanPeriods): number[] {
  const whole = (period.end - period.start) / 1_000;
  return planPeriods.map((planPeriod) =>
    shareOf(planPeriod.monthlyPriceMicroUsd, secondsOf(planPeriod), whole),
  );
}

/**
 * Returns the units that a plan period includes: its share of the month's seconds, rounded up. A plan without a price
 * includes all its units, once a month (see `splitUnits`).
 */
export function includedShare(period: Period, planPeriod: PlanPeriod): number {
  if (isWithoutPrice(planPeriod)) return planPeriod.includedUnits;
  const whole = (period.end - period.start) / 1_000;
  // At most 10^9 units times 2,678,400 seconds: an exact integer.
  const product = planPeriod.includedUnits * secondsOf(planPeriod);
  const rest = product % whole;
  return (product - rest) / whole + (rest > 0 ? 1 : 0);
}

/** How the units of a plan period are paid: included in its price, credited by an operator, or by the unit. */
export type UnitSplit = { readonly included: number; readonly credited: number; readonly overage: number };

/**
 * Splits the units of a month. Each plan period includes its own share of units, independent of those before it, so that
 * no order of plans makes a unit cheaper than under the plan in which it was used. Two amounts are shared by the whole
 * month: the units of a plan without a price, which are included once, and credited units, which pay for units beyond the
 * included ones in the order of use.
 */
export function splitUnits<Held extends PlanPeriod>(
  period: Period,
  planPeriods: readonly Held[],
  unitsOf: (planPeriod: Held) => number = ({ units }) => units,
): UnitSplit[] {
  let withoutPriceTaken = 0;
  let creditsLeft = planPeriods.reduce((total, { creditedUnits }) => total + creditedUnits, 0);
  return planPeriods.map((planPeriod) => {
    const units = unitsOf(planPeriod);
    const share = includedShare(period, planPeriod);
    const isFree = isWithoutPrice(planPeriod);
    const included = Math.min(units, isFree ? Math.max(0, share - withoutPriceTaken) : share);
    const credited = Math.min(units - included, creditsLeft);
    creditsLeft -= credited;
    if (isFree) withoutPriceTaken += included;
    return { included, credited, overage: units - included - credited };
  });
}

/**
 * Returns the price of a unit beyond the included ones. A plan that sells none charges its average price of a unit: there
 * are such units where an upgrade shortened the plan period, and with it the share of units, after they were used.
 */
export function overageUnitPrice(planPeriod: PlanPeriod): number {
  const { overagePriceMicroUsd, monthlyPriceMicroUsd, includedUnits } = planPeriod;
  if (overagePriceMicroUsd !== null) return overagePriceMicroUsd;
  return includedUnits === 0 ? 0 : Math.ceil(monthlyPriceMicroUsd / includedUnits);
}

/** Returns the cost of the units beyond the included ones. */
export function overagePrice<Held extends PlanPeriod>(
  period: Period,
  planPeriods: readonly Held[],
  unitsOf?: (planPeriod: Held) => number,
): number {
  const splits = splitUnits(period, planPeriods, unitsOf);
  return planPeriods.reduce(
    (total, planPeriod, index) => total + (splits[index]?.overage ?? 0) * overageUnitPrice(planPeriod),
    0,
  );
}

/** Returns whether the plan has no monthly price. */
export function isWithoutPrice({ monthlyPriceMicroUsd }: PlanPeriod): boolean {
  return monthlyPriceMicroUsd === 0;
}

/** Returns whole seconds: each second belongs to the plan at its start. */
function secondsOf({ startsAt, endsAt }: PlanPeriod): number {
  return Math.max(0, Math.floor(endsAt / 1_000) - Math.floor(startsAt / 1_000));
}
