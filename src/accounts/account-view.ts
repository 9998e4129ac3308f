import { invoiceView, projectedTotal } from "../billing/invoice.ts";
import { formatUsd } from "../billing/money.ts";
import { secondOf } from "../billing/period.ts";
import { storedPlanName } from "../billing/plan-periods.ts";
import { type PlanCatalogue, planOf } from "../billing/plans.ts";
import { allowance, includedUnitsUnused, ledgerOf } from "../billing/usage-ledger.ts";
import type { AccountBody, EndpointUsageBody } from "../contract/specification/accounts/account-replies.ts";
import type { AccountMonth } from "../store/account-records.ts";

/** The body of `GET /v1/account`. */
export type AccountView = AccountBody;

export type EndpointUsage = EndpointUsageBody;

/** Returns an account with its running month. Reserved units are not counted. */
export function accountView(
  plans: PlanCatalogue,
  { month, usage: byEndpoint }: { month: AccountMonth; usage: readonly EndpointUsage[] },
  now: number,
): AccountView {
  const { account } = month;
  const ledger = ledgerOf(month);
  const { accountId, period, tallies, current } = ledger;
  const limits = planOf(plans, current.plan);
  const { spendLimitMicroUsd, createdAt } = account;
  const total = projectedTotal(period, tallies, { now, activeSince: createdAt, spendLimitMicroUsd });
  return {
    account_id: accountId,
    email: account.email,
    name: account.name,
    company: account.company,
    country: account.country,
    plan: current.plan,
    pending_plan: account.pendingPlan === null ? null : storedPlanName(account.pendingPlan),
    created_at: secondOf(createdAt),
    period: { start: secondOf(period.start), end: secondOf(period.end) },
    usage: {
      units: tallies.reduce((sum, { units }) => sum + units, 0),
      included_units: allowance(ledger),
      remaining_units: current.overagePriceMicroUsd === null ? includedUnitsUnused(ledger) : null,
      calls: byEndpoint.reduce((sum, { calls }) => sum + calls, 0),
      by_endpoint: byEndpoint,
    },
    limits: {
      requests_per_second: limits.requestsPerSecond,
      burst: limits.burst,
      max_batch_size: limits.maxBatchSize,
    },
    spend_limit_usd: spendLimitMicroUsd === null ? null : formatUsd(spendLimitMicroUsd),
    projected_invoice: invoiceView(accountId, period, tallies, total),
  };
}
