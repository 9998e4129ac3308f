import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { isObject } from "../platform/json-value.ts";
import { parseUsd } from "./money.ts";
import { DEFAULT_PLANS, isPlanName, type Plan, type PlanCatalogue } from "./plans.ts";

export type PlansRead =
  | { readonly ok: true; readonly plans: PlanCatalogue }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The largest count in a catalogue: a thousand million. */
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
  // Files from before there were jobs lack their limits.
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
