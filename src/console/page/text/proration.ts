import { MICRO_USD_PER_USD, parseUsd } from "../../../billing/money.ts";
import { basePrices, includedShare, type PlanPeriod } from "../../../billing/plan-shares.ts";
import type { Account, Plan } from "../wire/bodies.ts";

/** The effect of a change of plan, as the server computes it to the second. */
export type Proration =
  | { readonly type: "none" }
  /** At the end of the month. */
  | { readonly type: "later"; readonly at: string }
  | {
      readonly type: "now";
      /** What the rest of the month costs under the new plan, in USD. */
      readonly price: number;
      /** Units that this price includes. */
      readonly units: number;
      readonly seconds: number;
    };

/** Returns the effect of a change from the current plan to another, made now. */
export function prorationOf(account: Account, from: Plan, to: Plan, now: number): Proration {
  if (from.plan === to.plan) return { type: "none" };
  const isUpgrade = Number(to.monthly_price_usd) > Number(from.monthly_price_usd);
  if (!isUpgrade) return { type: "later", at: account.period.end };
  const period = { start: Date.parse(account.period.start), end: Date.parse(account.period.end) };
  const begun: PlanPeriod = {
    plan: to.plan,
    monthlyPriceMicroUsd: parseUsd(to.monthly_price_usd) ?? 0,
    includedUnits: to.included_units,
    overagePriceMicroUsd: null,
    startsAt: Math.min(Math.max(now, period.start), period.end),
    endsAt: period.end,
    units: 0,
    creditedUnits: 0,
  };
  const [price = 0] = basePrices(period, [begun]);
  return {
    type: "now",
    price: price / MICRO_USD_PER_USD,
    units: includedShare(period, begun),
    seconds: Math.floor(period.end / 1_000) - Math.floor(begun.startsAt / 1_000),
  };
}
