import { newPlanPeriod } from "../billing/plan-periods.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import type { Ledger } from "../billing/usage-ledger.ts";
import type { PlanName } from "../contract/words.ts";
import type { Clock } from "../platform/clock.ts";
import type { PlanDecision } from "../store/account-port.ts";

export type PlanChange = {
  readonly plan: PlanName;
  /** Null removes the limit; undefined keeps it. */
  readonly spendLimitMicroUsd?: number | null | undefined;
};

/**
 * Returns the writes of a change of plan and spend limit. An upgrade starts a plan period now; a downgrade is pending until
 * the end of the month; choosing the current plan cancels a pending one. Running calls stay with the plan under which they
 * started.
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
  // With a clock that was set back, a plan period still starts after the one before it. Where the month has turned since
  // the ledger was read, it is in that month still.
  const startsAt = Math.max(Math.min(Math.floor(clock.now()), period.end - 1), current.startsAt);
  const started = newPlanPeriod(plans, { accountId, plan, period, startsAt });
  return { plan, pendingPlan: null, spendLimitMicroUsd, started };
}
