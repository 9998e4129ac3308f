import type { AccountBody, PlansBody } from "../contract/specification/accounts/account-replies.ts";
import { parseUsd } from "./money.ts";

/** The units that are left to an account in this month. */
export type Budget = {
  readonly plan: string;
  readonly includedUnitsLeft: number;
  /** Null: a hard stop. */
  readonly overagePriceMicroUsd: number | null;
  /** The units left before the hard stop or the spend limit; infinite without either. */
  readonly unitsLeft: number;
};

/** Reads the budget off an account. The spend limit is about the whole bill: the base price counts. */
export function budgetOf(account: AccountBody, plans: PlansBody["plans"]): Budget {
  const { usage, spend_limit_usd: limit, projected_invoice: invoice, plan } = account;
  const includedUnitsLeft = usage.remaining_units ?? Math.max(0, usage.included_units - usage.units);
  const overage = plans.find((each) => each.plan === plan)?.overage_unit_price_usd ?? null;
  const price = overage === null ? null : parseUsd(overage);
  const room = limit === null ? null : (parseUsd(limit) ?? 0) - (parseUsd(invoice.total_usd) ?? 0);
  const unitsLeft =
    usage.remaining_units ??
    (room === null || price === null || price === 0
      ? Number.POSITIVE_INFINITY
      : includedUnitsLeft + Math.max(0, Math.floor(room / price)));
  return {
    plan,
    includedUnitsLeft,
    overagePriceMicroUsd: usage.remaining_units === null ? price : null,
    unitsLeft,
  };
}
