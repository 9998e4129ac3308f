import type { Account, KeyRing } from "../accounts/key-ring.ts";
import { allows } from "../accounts/key-scopes.ts";
import type { Meter } from "../billing/meter.ts";
import type { Plan } from "../billing/plans.ts";
import type { Rate, RateLimiter } from "../billing/rate-limiter.ts";
import { rateLimited } from "../billing/rate-refusal.ts";
import { ApiError } from "../contract/errors.ts";
import type { KeyScope } from "../contract/words.ts";
import { type Answer, after } from "../platform/answer.ts";
import { isTestTenant } from "../platform/test-tenant.ts";
import { KEY_REPEAT_MS } from "../store/listed-keys.ts";
import type { Call } from "./call.ts";
import { clientAddressKey } from "./client-address-key.ts";

export type Guard = {
  /**
   * Admits a call with a valid key: 401 without one, 403 where its scopes do not allow the call, 429 above the plan's rate.
   * The body is not read before.
   */
  readonly admit: (call: Call, needed: readonly KeyScope[]) => Answer<Account>;
  /** Returns whether the key of a call under way still works, and its account is not suspended. */
  readonly isStillValid: (call: Call) => Promise<boolean>;
  /**
   * Returns the account of a call that may repeat the rotation which expired its key: the key expired recently, and there is
   * an Idempotency-Key. Else null, also above a rate that bounds guessing. Such a call may get the kept reply and nothing
   * else, after `applyRateLimit`.
   */
  readonly accountForReplay: (call: Call) => Answer<Account | null>;
  /** Applies the plan's rate, as `admit` does: 429 above it. */
  readonly applyRateLimit: (call: Call, account: Account) => void;
  /** Admits a public call: 429 above the rate of its client address, which is counted for each `purpose`. */
  readonly admitPublic: (call: Call, purpose: string, rate: Rate) => void;
  /** Writes the rate and unit headers of an authenticated reply; `refusal` is what it refuses the call with. */
  readonly setRateLimitHeaders: (call: Call, refusal?: ApiError) => void;
};

export type GuardDependencies = {
  readonly keyRing: KeyRing;
  readonly accountLimiter: RateLimiter;
  readonly addressLimiter: RateLimiter;
  readonly meter: Meter;
};

/** For one client address: enough for repetitions, too little for guessing an Idempotency-Key. */
const REPEAT_RATE: Rate = { requestsPerSecond: 1, burst: 10 };

const NO_CALL_LEFT = '"burst";r=0;';

/** Authenticates and rate limits calls before anything else is read of them. */
export function createGuard({ keyRing, accountLimiter, addressLimiter, meter }: GuardDependencies): Guard {
  function applyRateLimit(call: Call, account: Account): void {
    call.account = account;
    const decision = accountLimiter.take(account.accountId, account.plan);
    call.headers.RateLimit = `"burst";r=${decision.remaining};t=${decision.resetSeconds}`;
    if (!decision.allowed) throw rateLimited(decision.retryAfterSeconds, account.plan);
  }

  /** The header values of a plan's limits, cached. Those of the month are not: they depend on the plan at its start. */
  const policies = new WeakMap<Plan, { readonly limitUnits: number; readonly text: string }>();

  function policyOf(plan: Plan, limitUnits: number): string {
    const known = policies.get(plan);
    if (known?.limitUnits === limitUnits) return known.text;
    const text = `"burst";q=${plan.burst};w=${windowSecondsOf(plan)}, "month";q=${limitUnits};qu="units"`;
    policies.set(plan, { limitUnits, text });
    return text;
  }

  /** Throws `bad_key` without an account, `forbidden` where its key may not make the call, and 429 above its rate. */
  function authorize(call: Call, account: Account | null, needed: readonly KeyScope[]): Answer<Account> {
    if (account === null) throw new ApiError("bad_key");
    if (!allows(account.scopes, needed)) {
      throw new ApiError("forbidden", `This call needs a key with the scope ${needed.join(" or ")}.`);
    }
    if (isTestTenant(account.accountId) && !needed.includes("verify")) {
      throw new ApiError("forbidden", "A test key sees and changes nothing of the account; use a live one.");
    }
    applyRateLimit(call, account);
    const entered = meter.enter(account.accountId);
    return entered instanceof Promise ? entered.then(() => account) : account;
  }

  return {
    admit(call, needed) {
      const found = keyRing.find(keyOf(call));
      // As `after`, here and below, without allocating a function for each call.
      return found instanceof Promise
        ? found.then((account) => authorize(call, account, needed))
        : authorize(call, found, needed);
    },
    async isStillValid(call) {
      try {
        return (await keyRing.find(keyOf(call))) !== null;
      } catch (error) {
        if (error instanceof ApiError && error.code === "bad_key") return false;
        throw error;
      }
    },
    accountForReplay(call) {
      if (!call.request.headers.has("idempotency-key")) return null;
      return after(keyRing.findExpired(keyOf(call), KEY_REPEAT_MS), (account) => {
        if (account === null) return null;
        const address = clientAddressKey(call.clientAddress());
        return addressLimiter.take(`repeat ${address}`, REPEAT_RATE).allowed ? account : null;
      });
    },
    applyRateLimit,
    admitPublic: createAddressGuard(addressLimiter),
    setRateLimitHeaders({ account, headers, units }, refusal) {
      if (account === null) return;
      // Other nodes may have used up what this one counts as left.
      if (refusal?.code === "rate_limited" && !headers.RateLimit?.startsWith(NO_CALL_LEFT)) {
        headers.RateLimit = `${NO_CALL_LEFT}t=${windowSecondsOf(account.plan)}`;
      }
      headers["X-Units-Charged"] ??= `${units}`;
      const month = meter.month(account);
      headers["RateLimit-Policy"] = policyOf(account.plan, month.limitUnits);
      headers.RateLimit += `, "month";r=${month.remainingUnits};t=${month.resetSeconds}`;
      if (month.isHardStop) headers["X-Units-Remaining"] ??= `${month.remainingUnits}`;
    },
  };
}

/** Whole seconds in which a used-up burst is full again. */
function windowSecondsOf({ burst, requestsPerSecond }: Rate): number {
  return Math.max(1, Math.ceil(burst / requestsPerSecond));
}

/** Creates the rate limit of public calls: 429 above the rate of their client address. */
export function createAddressGuard(addressLimiter: RateLimiter): Guard["admitPublic"] {
  return (call, purpose, rate) => {
    const decision = addressLimiter.take(`${purpose} ${clientAddressKey(call.clientAddress())}`, rate);
    if (!decision.allowed) throw rateLimited(decision.retryAfterSeconds, rate, " from one address");
  };
}

/** Returns the key of a call; throws `missing_key` without one. */
export function keyOf({ bearer }: Call): string {
  if (bearer === null) throw new ApiError("missing_key");
  return bearer;
}
