import type { PlanName } from "../contract/words.ts";
import type { AccountRecord, NewPlanPeriod, PlanPeriodRecord } from "../store/account-records.ts";
import { type Period, periodOf } from "./period.ts";
import type { PlanPeriod } from "./plan-shares.ts";
import { isPlanName, type PlanCatalogue, planOf } from "./plans.ts";

/** Reads the name of a plan that the database keeps as text. */
export function storedPlanName(text: string): PlanName {
  if (!isPlanName(text)) throw new Error(`the database names an unknown plan ${text}`);
  return text;
}

/** Returns a stored plan period in the form that invoices are computed from. */
export function planPeriodOf(row: PlanPeriodRecord): PlanPeriod {
  const { monthlyPriceMicroUsd, includedUnits, overagePriceMicroUsd, startsAt, units, creditedUnits } = row;
  return {
    plan: storedPlanName(row.plan),
    monthlyPriceMicroUsd,
    includedUnits,
    overagePriceMicroUsd,
    startsAt,
    endsAt: row.endsAt ?? row.periodEnd,
    units,
    creditedUnits,
  };
}

/** Returns a plan period that begins now, with today's prices. */
export function newPlanPeriod(
  plans: PlanCatalogue,
  begin: { accountId: string; plan: PlanName; period: Period; startsAt: number },
): NewPlanPeriod {
  const plan = planOf(plans, begin.plan);
  return {
    accountId: begin.accountId,
    periodStart: begin.period.start,
    periodEnd: begin.period.end,
    plan: plan.plan,
    monthlyPriceMicroUsd: plan.monthlyPriceMicroUsd,
    includedUnits: plan.includedUnits,
    overagePriceMicroUsd: plan.overagePriceMicroUsd,
    startsAt: begin.startsAt,
  };
}

/**
 * Returns the plan periods that follow the running one, up to the one that contains `now`; a pending plan starts with its
 * month. Months without calls are included. None where the clock was set back.
 */
export function monthsToEnter(
  plans: PlanCatalogue,
  account: AccountRecord,
  running: PlanPeriodRecord,
  now: number,
): readonly NewPlanPeriod[] {
  const { accountId } = account;
  const started: NewPlanPeriod[] = [];
  for (let { periodEnd } = running; periodEnd <= now; ) {
    const plan = storedPlanName(account.pendingPlan ?? account.plan);
    const period = periodOf(periodEnd);
    started.push(newPlanPeriod(plans, { accountId, plan, period, startsAt: period.start }));
    periodEnd = period.end;
  }
  return started;
}
