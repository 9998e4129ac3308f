import type { PlansBody } from "../contract/specification/accounts/account-replies.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { formatUsdFixed } from "./money.ts";

/** What a plan costs and allows. Without an overage price the included units are a hard stop. */
export type Plan = {
  readonly plan: PlanName;
  readonly monthlyPriceMicroUsd: number;
  readonly includedUnits: number;
  readonly overagePriceMicroUsd: number | null;
  readonly requestsPerSecond: number;
  readonly burst: number;
  readonly maxBatchSize: number;
  /** Rows of a job. */
  readonly maxJobSize: number;
  /** Jobs that are not finished, at once. */
  readonly maxJobs: number;
};

/** All four plans, cheapest first. */
export type PlanCatalogue = readonly Plan[];

/** The default catalogue. */
export const DEFAULT_PLANS: PlanCatalogue = [
  {
    plan: "free",
    monthlyPriceMicroUsd: 0,
    includedUnits: 1_000,
    overagePriceMicroUsd: null,
    requestsPerSecond: 10,
    burst: 20,
    maxBatchSize: 100,
    maxJobSize: 1_000,
    maxJobs: 1,
  },
  {
    plan: "starter",
    monthlyPriceMicroUsd: 29_000_000,
    includedUnits: 25_000,
    overagePriceMicroUsd: 1_500,
    requestsPerSecond: 50,
    burst: 100,
    maxBatchSize: 1_000,
    maxJobSize: 100_000,
    maxJobs: 3,
  },
  {
    plan: "growth",
    monthlyPriceMicroUsd: 149_000_000,
    includedUnits: 250_000,
    overagePriceMicroUsd: 800,
    requestsPerSecond: 200,
    burst: 400,
    maxBatchSize: 10_000,
    maxJobSize: 1_000_000,
    maxJobs: 10,
  },
  {
    plan: "scale",
    monthlyPriceMicroUsd: 749_000_000,
    includedUnits: 2_500_000,
    overagePriceMicroUsd: 400,
    requestsPerSecond: 1_000,
    burst: 2_000,
    maxBatchSize: 100_000,
    maxJobSize: 10_000_000,
    maxJobs: 30,
  },
];

/** Bytes for an item of a batch: 320 bytes, each escaped as \u00XX, with quotes, names and a margin. */
const ITEM_BODY_BYTES_MAX = 2_048;
/** Bytes of a body beside its items. */
const BODY_BASE_BYTES = 65_536;

/** Returns the body limit of a plan: the bytes of its largest batch in its longest spelling. */
export function batchBodyBytesMax({ maxBatchSize }: Plan): number {
  return BODY_BASE_BYTES + maxBatchSize * ITEM_BODY_BYTES_MAX;
}

export type PlansView = PlansBody;

/** A plan on the wire, and in an operator's file of plans. */
export type PlanView = {
  readonly plan: PlanName;
  readonly monthly_price_usd: string;
  readonly included_units: number;
  readonly overage_unit_price_usd: string | null;
  readonly requests_per_second: number;
  readonly burst: number;
  readonly max_batch_size: number;
  readonly max_job_size: number;
  readonly max_jobs: number;
};

/** Returns the body of `GET /v1/plans`. */
export function plansView(plans: PlanCatalogue): PlansView {
  return {
    currency: "USD",
    plans: plans.map((plan) => ({
      plan: plan.plan,
      monthly_price_usd: formatUsdFixed(plan.monthlyPriceMicroUsd, 2),
      included_units: plan.includedUnits,
      overage_unit_price_usd:
        plan.overagePriceMicroUsd === null ? null : formatUsdFixed(plan.overagePriceMicroUsd, 6),
      requests_per_second: plan.requestsPerSecond,
      burst: plan.burst,
      max_batch_size: plan.maxBatchSize,
      max_job_size: plan.maxJobSize,
      max_jobs: plan.maxJobs,
    })),
  };
}

export function isPlanName(text: string): text is PlanName {
  return (PLAN_NAMES as readonly string[]).includes(text);
}

/** Returns a plan of the catalogue. A catalogue has all four, so a missing one is a bug. */
export function planOf(plans: PlanCatalogue, name: PlanName): Plan {
  const plan = plans.find((candidate) => candidate.plan === name);
  if (plan === undefined) throw new Error(`the catalogue has no plan ${name}`);
  return plan;
}
