import { newPlanPeriod } from "../billing/plan-periods.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import type { Ledger } from "../billing/usage-ledger.ts";
import type { PlanName } from "../contract/words.ts";
import type { Clock } from "../platform/clock.ts";
import type { PlanDecision } from "../store/account-port.ts";

export type PlanChange = {
  readonly plan: PlanName;
  /** Null takes the limit away; left out, it stays as it is. */
  readonly spendLimitMicroUsd?: number | null | undefined;
};

/**
 * Returns what a change of plan and spend limit writes. An upgrade begins a plan period now; a downgrade waits for
 * the end of the month; asking for the present plan withdraws what waits. Calls that are running stay with the plan
 * under which they began.
 */
export function decidePlanChange(
  dependencies: { plans: PlanCatalogue; clock: Clock },
  ledger: Ledger,
  change: PlanChange,
): PlanDecision {
  const { plans, clock } = dependencies;
  const { accountId, period, current } = ledger;
  const { plan, spendLimitMicroUsd } = change;
  const rank = (name: PlanName): number => plans.findIndex((known) => known.plan === name);
  if (rank(plan) <= rank(current.plan)) {
    const pendingPlan = plan === current.plan ? null : plan;
    return { plan: current.plan, pendingPlan, spendLimitMicroUsd, started: null };
  }
  // A clock that was set back must not begin a plan period before the one it follows.
  const startsAt = Math.max(Math.floor(clock.now()), current.startsAt);
  const started = newPlanPeriod(plans, { accountId, plan, period, startsAt });
  return { plan, pendingPlan: null, spendLimitMicroUsd, started };
}
