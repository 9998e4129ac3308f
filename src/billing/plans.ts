import type { PlansBody } from "../contract/specification/account-replies.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { isObject } from "../platform/json-value.ts";
import { formatUsdFixed, parseUsd } from "./money.ts";

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

/** The catalogue of an operator who gives none of his own. */
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

/** What an item of a batch may take: 320 bytes, each written as \u00XX, quotes, names and room to spare. */
const ITEM_BODY_BYTES_MAX = 2_048;
/** What a body may take besides its items. */
const BODY_BASE_BYTES = 65_536;

/** Returns how large the body of a batch may be on a plan: as large as its largest batch can be written. */
export function batchBodyBytesMax({ maxBatchSize }: Plan): number {
  return BODY_BASE_BYTES + maxBatchSize * ITEM_BODY_BYTES_MAX;
}

export type PlansView = PlansBody;

/** A plan as callers see it, and as an operator writes it in his file. */
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

/** The catalogue as `GET /v1/plans` answers it. */
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

/** The catalogue's entry of a plan. A catalogue has all four, so a missing one is a bug. */
export function planOf(plans: PlanCatalogue, name: PlanName): Plan {
  const plan = plans.find((candidate) => candidate.plan === name);
  if (plan === undefined) throw new Error(`the catalogue has no plan ${name}`);
  return plan;
}

export type PlansRead =
  | { readonly ok: true; readonly plans: PlanCatalogue }
  | { readonly ok: false; readonly problems: readonly string[] };

/** No count of a catalogue is larger: a thousand million. */
const COUNT_MAX = 1_000_000_000;

/**
 * Reads an operator's catalogue: the shape of the reply of `GET /v1/plans`, with all four plans, each dearer
 * than the one before. Reports every problem at once.
 */
export function readPlans(json: string): PlansRead {
  let file: unknown;
  try {
    file = JSON.parse(json);
  } catch {
    return { ok: false, problems: ["the file is not valid JSON"] };
  }
  if (!isObject(file) || !Array.isArray(file.plans)) {
    return { ok: false, problems: ['the file must be {"currency":"USD","plans":[…]}'] };
  }
  const problems: string[] = [];
  if (file.currency !== "USD") problems.push('currency must be "USD"');
  const entries: readonly unknown[] = file.plans;
  const plans = entries.flatMap((entry, index) => readPlan(entry, `plans[${index}]`, problems));
  checkNames(plans, plans.length === entries.length, problems);
  plans.sort((a, b) => a.monthlyPriceMicroUsd - b.monthlyPriceMicroUsd);
  checkOrder(plans, problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, plans };
}

function readPlan(entry: unknown, at: string, problems: string[]): Plan[] {
  if (!isObject(entry)) {
    problems.push(`${at} must be an object`);
    return [];
  }
  const before = problems.length;
  const name = entry.plan;
  if (typeof name !== "string" || !isPlanName(name)) {
    problems.push(`${at}.plan must be one of ${PLAN_NAMES.join(", ")}`);
  }
  const overage = entry.overage_unit_price_usd;
  // A file that was written before there were jobs says nothing of them.
  const ownDefault = DEFAULT_PLANS.find(({ plan }) => plan === name);
  const plan = {
    monthlyPriceMicroUsd: readPrice(entry.monthly_price_usd, 2, `${at}.monthly_price_usd`, problems),
    includedUnits: readCount(entry.included_units, 0, `${at}.included_units`, problems),
    overagePriceMicroUsd:
      overage === null ? null : readPrice(overage, 6, `${at}.overage_unit_price_usd`, problems, " or null"),
    requestsPerSecond: readCount(entry.requests_per_second, 1, `${at}.requests_per_second`, problems),
    burst: readCount(entry.burst, 1, `${at}.burst`, problems),
    maxBatchSize: readCount(entry.max_batch_size, 1, `${at}.max_batch_size`, problems),
    maxJobSize: readCount(entry.max_job_size ?? ownDefault?.maxJobSize, 1, `${at}.max_job_size`, problems),
    maxJobs: readCount(entry.max_jobs ?? ownDefault?.maxJobs, 1, `${at}.max_jobs`, problems),
  };
  return problems.length > before ? [] : [{ plan: name as PlanName, ...plan }];
}

function checkNames(plans: readonly Plan[], isEachRead: boolean, problems: string[]): void {
  for (const name of PLAN_NAMES) {
    const count = plans.filter((plan) => plan.plan === name).length;
    // A plan whose entry has problems of its own is not reported as missing too.
    if (count === 0 && isEachRead) problems.push(`the plan ${name} is missing`);
    if (count > 1) problems.push(`the plan ${name} is given ${count} times`);
  }
}

function checkOrder(plans: readonly Plan[], problems: string[]): void {
  for (const [index, plan] of plans.entries()) {
    const cheaper = plans[index - 1];
    if (cheaper !== undefined && cheaper.monthlyPriceMicroUsd === plan.monthlyPriceMicroUsd) {
      problems.push(`the plans ${cheaper.plan} and ${plan.plan} have the same monthly_price_usd`);
    }
  }
}

function readPrice(value: unknown, decimals: 2 | 6, at: string, problems: string[], also = ""): number {
  const microUsd = typeof value === "string" ? parseUsd(value) : null;
  if (microUsd !== null && (decimals === 6 || microUsd % 10_000 === 0)) return microUsd;
  problems.push(`${at} must be a string such as "${decimals === 2 ? "29.00" : "0.001500"}"${also}`);
  return 0;
}

function readCount(value: unknown, min: number, at: string, problems: string[]): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= COUNT_MAX)
    return value;
  problems.push(`${at} must be an integer from ${min} to ${COUNT_MAX}`);
  return min;
}
