import { periodOf } from "../billing/period.ts";
import { newPlanPeriod } from "../billing/plan-periods.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import type { PlanName } from "../contract/words.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccountPort } from "../store/account-port.ts";
import type { AccountRecord } from "../store/account-records.ts";
import { type RandomBytes, randomBase62 } from "./api-key.ts";
import { makeKey } from "./key-rotation.ts";

export type SignupFields = Pick<
  AccountRecord,
  "email" | "normalized" | "name" | "company" | "country" | "referralCode"
> & { readonly plan: PlanName };

export type SignedUp = { readonly accountId: string; readonly apiKey: string };

const ACCOUNT_ID_CHARS = 20;

/**
 * Makes an account, its first key and its first plan period in one step. Throws an ApiError `account_exists`
 * where the mailbox has an account, however many signups of it run at once.
 */
export function signUp(
  dependencies: {
    store: Pick<AccountPort, "signUp">;
    plans: PlanCatalogue;
    clock: Clock;
    randomBytes: RandomBytes;
  },
  fields: SignupFields,
): Answer<SignedUp> {
  const { store, plans, clock, randomBytes } = dependencies;
  const now = Math.floor(clock.now());
  const accountId = `acc_${randomBase62(ACCOUNT_ID_CHARS, randomBytes)}`;
  const { apiKey, record: key } = makeKey(randomBytes, accountId, now);
  const none = { pendingPlan: null, spendLimitMicroUsd: null, suspendedAt: null, erasedAt: null };
  const account = { ...fields, ...none, accountId, createdAt: now };
  const begin = { accountId, plan: fields.plan, period: periodOf(now), startsAt: now };
  return after(store.signUp(account, key, newPlanPeriod(plans, begin)), (isNew) => {
    if (!isNew) throw new ApiError("account_exists");
    return { accountId, apiKey };
  });
}
