import { ApiError } from "../contract/errors.ts";
import { nounOf } from "../contract/noun.ts";
import { formatUsd } from "./money.ts";
import { secondOf } from "./period.ts";
import { allowance, type Ledger, unitsLeft } from "./usage-ledger.ts";

/** Returns the refusal of a call that needs more units than the month has left. */
export function quotaExceeded(ledger: Ledger, units: number, now: number): ApiError {
  const { current, period, spendLimitMicroUsd } = ledger;
  const until = secondOf(period.end);
  const left = unitsLeft(ledger);
  const used = current.units + current.heldUnits;
  const needs = `This call needs ${units} ${nounOf(units, "unit")}`;
  const message =
    current.overagePriceMicroUsd === null
      ? `${needs}; ${used} of the ${allowance(ledger)} units of the ${current.plan} plan are used or held until ${until}. POST /v1/account/plan changes to a larger plan.`
      : `${needs}; the spend limit of ${formatUsd(spendLimitMicroUsd ?? 0)} USD pays for ${left} more until ${until}. POST /v1/account/plan changes it.`;
  return new ApiError("quota_exceeded", message, { retryAfterSeconds: secondsUntil(period.end, now) });
}

/** Returns the refusal of a call that began under a plan, or in a month, that has ended and had too few units left. */
export function endedPlanExceeded(units: number): ApiError {
  const needs = `This call needs ${units} ${nounOf(units, "unit")}`;
  const message = `${needs}, and began under a plan or in a month that has ended and had fewer left. Send it again.`;
  return new ApiError("quota_exceeded", message, { retryAfterSeconds: 1 });
}

/** Returns the whole seconds until a time, one at least. */
export function secondsUntil(at: number, now: number): number {
  return Math.max(1, Math.ceil((at - now) / 1_000));
}
