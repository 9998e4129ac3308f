import { ApiError } from "../contract/errors.ts";
import { nounOf } from "../contract/noun.ts";
import type { Rate } from "./rate-limiter.ts";

/** Returns the refusal of a call above a rate; `of` says whose it is where that is not the account. */
export function rateLimited(retryAfterSeconds: number, rate: Rate, of = ""): ApiError {
  return new ApiError("rate_limited", `Too many requests: the limit is ${describeRate(rate)}${of}.`, {
    retryAfterSeconds,
  });
}

/** Describes a rate; below one call a second by the minute. */
function describeRate({ requestsPerSecond, burst }: Rate): string {
  const perMinute = Math.round(requestsPerSecond * 60);
  const rate = Number.isInteger(requestsPerSecond)
    ? `${requestsPerSecond} ${nounOf(requestsPerSecond, "call")} a second`
    : `${perMinute} ${nounOf(perMinute, "call")} a minute`;
  return `${rate} and ${burst} at once`;
}
