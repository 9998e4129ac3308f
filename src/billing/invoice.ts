import { formatUsd, formatUsdFixed, shareOf } from "./money.ts";
import { type Period, secondOf } from "./period.ts";
import type { PlanName } from "./plans.ts";

/**
 * The time an account spent on one plan within a month, with the prices that held when it began and the units
 * that were charged in it.
 */
export type PlanPeriod = {
  readonly plan: PlanName;
  readonly monthlyPriceMicroUsd: number;
  readonly includedUnits: number;
  readonly overagePriceMicroUsd: number | null;
  readonly startsAt: number;
  readonly units: number;
};

/** The plan periods of one month, in the order in which they began; at least one. */
export type PlanPeriods = readonly PlanPeriod[];

export type InvoiceLine = {
  readonly description: string;
  readonly quantity: number;
  readonly unitPriceMicroUsd: number;
  /** Always quantity times unit price. */
  readonly amountMicroUsd: number;
  readonly unit: "month" | "unit";
};

export type InvoiceLineView = {
  readonly description: string;
  readonly quantity: number;
  readonly unit_price_usd: string;
  readonly amount_usd: string;
};

/** An invoice as callers see it. */
export type InvoiceView = {
  readonly invoice_id: string;
  readonly status: "projected" | "issued";
  readonly plan: PlanName;
  readonly period_start: string;
  readonly period_end: string;
  readonly lines: readonly InvoiceLineView[];
  readonly total_usd: string;
  readonly projected_total_usd?: string;
};

const DAY_MS = 86_400_000;

/**
 * What each plan period owes of its monthly price: its share of the month's seconds. The first one counts from
 * the start of the month, the last one to its end, so that the shares make up the whole month.
 */
export function basePrices(period: Period, planPeriods: PlanPeriods): number[] {
  const seconds = secondsOn(period, planPeriods);
  const whole = (period.end - period.start) / 1_000;
  return planPeriods.map((planPeriod, index) =>
    shareOf(planPeriod.monthlyPriceMicroUsd, seconds[index] ?? 0, whole),
  );
}

function secondsOn(period: Period, planPeriods: PlanPeriods): number[] {
  const second = (at: number): number => Math.floor(at / 1_000);
  return planPeriods.map((planPeriod, index) => {
    const next = planPeriods[index + 1];
    const from = index === 0 ? period.start : planPeriod.startsAt;
    return second(next === undefined ? period.end : next.startsAt) - second(from);
  });
}

/** How the units of each plan period are paid: out of what is included, or one by one. */
export type UnitSplit = { readonly included: number; readonly overage: number };

/**
 * Splits the units of a month. Included units hold for the calendar month: an upgrade raises them to the new
 * plan's, and what was taken out of them before counts. Units that were beyond them stay on the bill of the
 * plan they were used under, and are not counted again.
 */
export function splitUnits(planPeriods: PlanPeriods): UnitSplit[] {
  let taken = 0;
  return planPeriods.map(({ units, includedUnits }) => {
    const included = includedPart(units, includedUnits, taken);
    taken += included;
    return { included, overage: units - included };
  });
}

/** The included units of a month that were taken, by `splitUnits`, where each plan period has used `unitsOf` it. */
export function includedUnitsTaken<Period extends PlanPeriod>(
  planPeriods: readonly Period[],
  unitsOf: (planPeriod: Period) => number,
): number {
  let taken = 0;
  for (const planPeriod of planPeriods) {
    taken += includedPart(unitsOf(planPeriod), planPeriod.includedUnits, taken);
  }
  return taken;
}

function includedPart(units: number, includedUnits: number, taken: number): number {
  return units - Math.max(0, Math.min(units, taken + units - includedUnits));
}

/** What the units beyond the included ones cost. */
export function overagePrice(planPeriods: PlanPeriods): number {
  return sum(
    splitUnits(planPeriods).map(
      ({ overage }, index) => overage * (planPeriods[index]?.overagePriceMicroUsd ?? 0),
    ),
  );
}

/** The lines of a month's invoice, in the order in which the plans were used. */
export function invoiceLines(period: Period, planPeriods: PlanPeriods): InvoiceLine[] {
  const seconds = secondsOn(period, planPeriods);
  const prices = basePrices(period, planPeriods);
  const splits = splitUnits(planPeriods);
  return planPeriods.flatMap((planPeriod, index) => {
    const name = `${planPeriod.plan.charAt(0).toUpperCase()}${planPeriod.plan.slice(1)} plan`;
    const from = index === 0 ? period.start : planPeriod.startsAt;
    const to = planPeriods[index + 1]?.startsAt ?? period.end;
    const part = planPeriods.length === 1 ? "" : `, ${secondOf(from)} to ${secondOf(to)}`;
    const split = splits[index] ?? { included: 0, overage: 0 };
    const base = line(`${name}${part}`, "month", 1, prices[index] ?? 0);
    const included = line(`${name}: included units`, "unit", split.included, 0);
    const price = planPeriod.overagePriceMicroUsd ?? 0;
    const overage = line(`${name}: units beyond the included`, "unit", split.overage, price);
    return [
      ...((seconds[index] ?? 0) > 0 ? [base] : []),
      ...[included, overage].filter((units) => units.quantity > 0),
    ];
  });
}

function line(
  description: string,
  unit: "month" | "unit",
  quantity: number,
  unitPriceMicroUsd: number,
): InvoiceLine {
  return { description, unit, quantity, unitPriceMicroUsd, amountMicroUsd: quantity * unitPriceMicroUsd };
}

export function totalOf(lines: readonly InvoiceLine[]): number {
  return sum(lines.map(({ amountMicroUsd }) => amountMicroUsd));
}

/**
 * What the month will cost if units go on being used as fast as so far. The first day of use counts as a whole
 * one, so that one call in the first minute does not foretell forty thousand.
 */
export function projectedTotal(
  period: Period,
  planPeriods: PlanPeriods,
  at: { now: number; activeSince: number; spendLimitMicroUsd: number | null },
): number {
  const used = sum(planPeriods.map(({ units }) => units));
  const elapsedMs = Math.max(DAY_MS, at.now - Math.max(period.start, at.activeSince));
  const restMs = Math.min(Math.max(0, period.end - at.now), period.end - period.start);
  const ahead = Math.floor((used * restMs) / elapsedMs);
  const last = planPeriods.length - 1;
  const grown = planPeriods.map((planPeriod, index) =>
    index === last ? { ...planPeriod, units: planPeriod.units + ahead } : planPeriod,
  );
  const base = sum(basePrices(period, planPeriods));
  const most = at.spendLimitMicroUsd === null ? Number.POSITIVE_INFINITY : at.spendLimitMicroUsd - base;
  // A limit that is set below what has been used already does not undo it.
  return base + Math.min(overagePrice(grown), Math.max(most, overagePrice(planPeriods)));
}

/** The invoice's id: the month and the account, so that a month cannot be invoiced twice. */
export function invoiceId(accountId: string, period: Period): string {
  const month = secondOf(period.start).slice(0, 7).replace("-", "");
  return `inv_${month}_${accountId.slice(accountId.indexOf("_") + 1)}`;
}

/** An invoice as callers see it; with a projected total it is a projected one. */
export function invoiceView(
  accountId: string,
  period: Period,
  planPeriods: PlanPeriods,
  projectedTotalMicroUsd?: number,
): InvoiceView {
  const lines = invoiceLines(period, planPeriods);
  const plan = planPeriods.at(-1)?.plan;
  if (plan === undefined) throw new Error("a month without a plan period cannot be invoiced");
  const isProjected = projectedTotalMicroUsd !== undefined;
  return {
    invoice_id: invoiceId(accountId, period),
    status: isProjected ? "projected" : "issued",
    plan,
    period_start: secondOf(period.start),
    period_end: secondOf(period.end),
    lines: lines.map((entry) => ({
      description: entry.description,
      quantity: entry.quantity,
      unit_price_usd:
        entry.unit === "month"
          ? formatUsd(entry.unitPriceMicroUsd)
          : formatUsdFixed(entry.unitPriceMicroUsd, 6),
      amount_usd: formatUsd(entry.amountMicroUsd),
    })),
    total_usd: formatUsd(totalOf(lines)),
    ...(isProjected ? { projected_total_usd: formatUsd(projectedTotalMicroUsd) } : {}),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
