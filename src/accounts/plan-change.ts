import { newPlanPeriod } from "../billing/plan-periods.ts";
import type { PlanCatalogue, PlanName } from "../billing/plans.ts";
import type { Ledger } from "../billing/usage-ledger.ts";
import type { Clock } from "../platform/clock.ts";
import type { Store } from "../store/open.ts";

export type PlanChange = {
  readonly plan: PlanName;
  /** Null takes the limit away; left out, it stays as it is. */
  readonly spendLimitMicroUsd?: number | null | undefined;
};

/**
 * Changes plan and spend limit, in the transaction of the caller. An upgrade begins a plan period now; a
 * downgrade waits for the end of the month; asking for the present plan withdraws what waits. Calls that are
 * running stay with the plan under which they began.
 */
export function applyPlanChange(
  dependencies: { store: Store; plans: PlanCatalogue; clock: Clock },
  ledger: Ledger,
  change: PlanChange,
): void {
  const { store, plans, clock } = dependencies;
  const { accountId, period, current } = ledger;
  const rank = (name: PlanName): number => plans.findIndex((plan) => plan.plan === name);
  const isUpgrade = rank(change.plan) > rank(current.plan);
  if (isUpgrade) {
    // A clock that was set back must not begin a plan period before the one it follows.
    const startsAt = Math.max(Math.floor(clock.now()), current.startsAt);
    store.planPeriods.end(current.planPeriodId, startsAt);
    store.planPeriods.insert(newPlanPeriod(plans, { accountId, plan: change.plan, period, startsAt }));
    store.accounts.setPlan(accountId, change.plan, null);
  } else {
    const pendingPlan = change.plan === current.plan ? null : change.plan;
    store.accounts.setPlan(accountId, current.plan, pendingPlan);
  }
  if (change.spendLimitMicroUsd !== undefined) {
    store.accounts.setSpendLimit(accountId, change.spendLimitMicroUsd);
  }
}
