import type { Account, KeyRing } from "../accounts/key-ring.ts";
import { ApiError } from "../errors.ts";
import type { Meter } from "../metering/meter.ts";
import {
  clientAddressKey,
  type Rate,
  type RateDecision,
  type RateLimiter,
} from "../metering/rate-limiter.ts";
import type { Call } from "./boundary.ts";

export type Guard = {
  /** Lets a call with a good key pass: 401 without one, 429 above the plan's rate. The body is still unread. */
  readonly admit: (call: Call) => Account;
  /** Lets a public call pass: 429 above the rate of its client address, counted apart for each `purpose`. */
  readonly admitPublic: (call: Call, purpose: string, rate: Rate) => void;
  /** Writes the rate and unit headers of an authenticated reply. */
  readonly stamp: (call: Call) => void;
};

/** Lets a public call pass, or throws `rate_limited`. */
export type PublicGate = (call: Call) => void;

export type GuardParts = {
  readonly keyRing: KeyRing;
  readonly accountLimiter: RateLimiter;
  readonly addressLimiter: RateLimiter;
  readonly meter: Meter;
};

/** Decides who may call and how often, before anything else of a call is looked at. */
export function createGuard({ keyRing, accountLimiter, addressLimiter, meter }: GuardParts): Guard {
  return {
    admit(call) {
      const account = keyRing.find(bearerKey(call.request));
      if (account === null) throw new ApiError("bad_key");
      call.account = account;
      const decision = accountLimiter.take(account.accountId, account.plan);
      const { burst, requestsPerSecond } = account.plan;
      const windowSeconds = Math.max(1, Math.ceil(burst / requestsPerSecond));
      call.headers["RateLimit-Policy"] = `"burst";q=${burst};w=${windowSeconds}`;
      call.headers.RateLimit = `"burst";r=${decision.remaining};t=${decision.resetSeconds}`;
      if (!decision.allowed) throw rateLimited(decision, describeRate(account.plan));
      return account;
    },
    admitPublic(call, purpose, rate) {
      const decision = addressLimiter.take(`${purpose} ${clientAddressKey(call.clientAddress())}`, rate);
      if (!decision.allowed) throw rateLimited(decision, `${describeRate(rate)} from one address`);
    },
    stamp({ account, headers, units }) {
      if (account === null) return;
      const month = meter.month(account);
      headers["RateLimit-Policy"] += `, "month";q=${month.limitUnits};qu="units"`;
      headers.RateLimit += `, "month";r=${month.remainingUnits};t=${month.resetSeconds}`;
      headers["X-Units-Charged"] ??= `${units}`;
      const remaining = meter.remainingUnits(account);
      if (remaining !== null) headers["X-Units-Remaining"] ??= `${remaining}`;
    },
  };
}

/** The key of `Authorization: Bearer <key>`, scheme in any case. A key in the query is not looked at. */
export function bearerKey(request: Request): string {
  const header = request.headers.get("authorization");
  if (header === null || header === "") throw new ApiError("missing_key");
  if (header.slice(0, 7).toLowerCase() !== "bearer ") throw new ApiError("missing_key");
  const key = header.slice(7).trim();
  if (key === "") throw new ApiError("missing_key");
  return key;
}

/** A rate below one call a second reads better by the minute. */
function describeRate({ requestsPerSecond, burst }: Rate): string {
  const perMinute = Math.round(requestsPerSecond * 60);
  const rate = Number.isInteger(requestsPerSecond)
    ? `${requestsPerSecond} calls a second`
    : `${perMinute} calls a minute`;
  return `${rate} and ${burst} at once`;
}

function rateLimited(decision: RateDecision, limit: string): ApiError {
  return new ApiError("rate_limited", `Too many requests: the limit is ${limit}.`, {
    retryAfterSeconds: decision.retryAfterSeconds,
  });
}
