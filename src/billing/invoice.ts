import type { InvoiceBody } from "../contract/specification/accounts/account-replies.ts";
import { DAY_MS } from "../platform/days.ts";
import { formatUsd, formatUsdFixed } from "./money.ts";
import { type Period, secondOf } from "./period.ts";
import {
  basePrices,
  overagePrice,
  overageUnitPrice,
  type PlanPeriod,
  type PlanPeriods,
  splitUnits,
} from "./plan-shares.ts";

export type InvoiceLine = {
  readonly description: string;
  readonly quantity: number;
  readonly unitPriceMicroUsd: number;
  /** Always quantity times unit price. */
  readonly amountMicroUsd: number;
  readonly unit: "month" | "unit";
};

/** An invoice on the wire. */
export type InvoiceView = InvoiceBody;

/** Returns the lines of a month's invoice, in the order of the plan periods. */
export function invoiceLines(period: Period, planPeriods: PlanPeriods): InvoiceLine[] {
  const prices = basePrices(period, planPeriods);
  const splits = splitUnits(period, planPeriods);
  return planPeriods.flatMap((planPeriod, index) => {
    const name = `${planPeriod.plan.charAt(0).toUpperCase()}${planPeriod.plan.slice(1)} plan`;
    const { included, credited, overage } = splits[index] ?? { included: 0, credited: 0, overage: 0 };
    const units = [
      line(`${name}: included units`, "unit", included, 0),
      line(`${name}: credited units`, "unit", credited, 0),
      line(`${name}: units beyond the included`, "unit", overage, overageUnitPrice(planPeriod)),
    ].filter(({ quantity }) => quantity > 0);
    const isShorterThanSecond = secondOf(planPeriod.startsAt) === secondOf(planPeriod.endsAt);
    if (isShorterThanSecond) return units;
    return [line(name + rangeOf(period, planPeriod), "month", 1, prices[index] ?? 0), ...units];
  });
}

/** Returns the words for a plan period that is shorter than the month; else none. */
function rangeOf(period: Period, { startsAt, endsAt }: PlanPeriod): string {
  const isWhole = startsAt <= period.start && endsAt >= period.end;
  return isWhole ? "" : `, ${secondOf(startsAt)} to ${secondOf(endsAt)}`;
}

function line(
  description: string,
  unit: "month" | "unit",
  quantity: number,
  unitPriceMicroUsd: number,
): InvoiceLine {
  return { description, unit, quantity, unitPriceMicroUsd, amountMicroUsd: quantity * unitPriceMicroUsd };
}

/** Returns the sum of the lines, in micro-USD. */
export function totalOf(lines: readonly InvoiceLine[]): number {
  return sum(lines.map(({ amountMicroUsd }) => amountMicroUsd));
}

/**
 * Projects the cost of the month from the rate of use so far. The first day of use counts as a whole day, so that one call
 * in the first minute does not project to forty thousand.
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
  // A spend limit below what is already spent does not lower it.
  return base + Math.min(overagePrice(period, grown), Math.max(most, overagePrice(period, planPeriods)));
}

/** Returns the invoice's id: the month and the account, so that a month cannot be invoiced twice. */
export function invoiceId(accountId: string, period: Period): string {
  const month = secondOf(period.start).slice(0, 7).replace("-", "");
  return `inv_${month}_${accountId.slice(accountId.indexOf("_") + 1)}`;
}

/** Returns an invoice as callers see it; with a projected total it is a projected one. */
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
