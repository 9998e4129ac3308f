import type { Store } from "../store/open.ts";
import type { NewPlanPeriod, PlanPeriodRow } from "../store/plan-period-store.ts";
import { type Period, periodOf } from "./period.ts";
import type { PlanPeriod } from "./plan-shares.ts";
import { isPlanName, type PlanCatalogue, type PlanName, planOf } from "./plans.ts";

/** Returns a text of the database as a plan's name. */
export function storedPlanName(text: string): PlanName {
  if (!isPlanName(text)) throw new Error(`the database names an unknown plan ${text}`);
  return text;
}

/** Returns a row as invoices are computed from it. */
export function planPeriodOf(row: PlanPeriodRow): PlanPeriod {
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
 * Ends the plan periods of months that are over and begins those of the next, until the running one holds
 * `now`; a plan that was asked for begins with its month. Months in which nobody called are not left out.
 * Time that runs backwards changes nothing.
 */
export function enterMonth(
  store: Store,
  plans: PlanCatalogue,
  accountId: string,
  now: number,
): PlanPeriodRow {
  return store.transact(() => {
    let running = runningPlanPeriod(store, accountId);
    while (running.periodEnd <= now) {
      const account = store.accounts.find(accountId);
      if (account === undefined) throw new Error("a plan period has no account");
      const plan = storedPlanName(account.pendingPlan ?? account.plan);
      if (account.pendingPlan !== null) store.accounts.setPlan(accountId, plan, null);
      store.planPeriods.end(running.planPeriodId, running.periodEnd);
      const period = periodOf(running.periodEnd);
      running = store.planPeriods.insert(
        newPlanPeriod(plans, { accountId, plan, period, startsAt: period.start }),
      );
    }
    return running;
  });
}

/** Returns the plan period in which an account is. Every account has one from its signup until it is erased. */
export function runningPlanPeriod(store: Store, accountId: string): PlanPeriodRow {
  const running = store.planPeriods.running(accountId);
  if (running === undefined) throw new Error("the account has no running plan period");
  return running;
}
