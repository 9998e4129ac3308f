import type { BillingClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import { ledgerOf } from "../billing/usage-ledger.ts";
import { ApiError } from "../contract/errors.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import type { EmbeddedStore, ReplyOf } from "../store/port.ts";
import { type AccountView, accountView } from "./account-view.ts";
import type { RandomBytes } from "./api-key.ts";
import { type InvoicePage, invoicePage } from "./invoice-list.ts";
import type { KeyRing } from "./key-ring.ts";
import { type RotatedKey, rotateKey } from "./key-rotation.ts";
import { decidePlanChange, type PlanChange } from "./plan-change.ts";
import { type SignedUp, type SignupFields, signUp } from "./signup.ts";
import { type UsageRange, type UsageView, usageReport } from "./usage-report.ts";

export type Accounts = {
  /** Throws an ApiError `account_exists` where the mailbox has an account. */
  readonly signup: (fields: SignupFields) => SignedUp;
  readonly view: (accountId: string) => AccountView;
  /** What `replyOf` returns is written in the same transaction as the change. */
  readonly changePlan: (accountId: string, change: PlanChange, replyOf?: ReplyOf<AccountView>) => AccountView;
  /** What `replyOf` returns is written in the same transaction as the new key. */
  readonly rotateKey: (
    accountId: string,
    options: { readonly overlapSeconds: number; readonly keyId?: string | null },
    replyOf?: ReplyOf<RotatedKey>,
  ) => RotatedKey;
  /** Throws an ApiError `invalid_request` for dates that cannot be. */
  readonly usage: (accountId: string, range: UsageRange) => UsageView;
  /** Throws an ApiError `invalid_request` for an unknown cursor. */
  readonly invoices: (
    accountId: string,
    page: { readonly limit: number; readonly startingAfter: string | null },
  ) => InvoicePage;
};

/** Returns what an account's holder sees and changes. While the clock is in doubt nothing is changed. */
export function createAccounts(dependencies: {
  store: EmbeddedStore;
  meter: Meter;
  keyRing: KeyRing;
  plans: PlanCatalogue;
  clock: BillingClock;
  /** Plans that may be signed up for or changed to; all of them unless given. */
  selfServePlans?: readonly PlanName[];
  randomBytes: RandomBytes;
}): Accounts {
  const { store, meter, keyRing, plans, clock, selfServePlans = PLAN_NAMES } = dependencies;
  const requireSelfServe = (plan: PlanName): void => {
    if (selfServePlans.includes(plan)) return;
    const message = `plan must be one of ${selfServePlans.join(", ")}; the operator sets others.`;
    throw new ApiError("invalid_request", message);
  };

  return {
    signup: (fields) => {
      clock.requireTrust();
      requireSelfServe(fields.plan);
      return signUp(dependencies, fields);
    },

    view: (accountId) => {
      meter.flush();
      // Where the month has turned it is entered first.
      meter.ledger(accountId);
      return accountView(plans, store.readOverview(accountId), clock.now());
    },

    changePlan: (accountId, change, replyOf = () => null) => {
      clock.requireTrust();
      if (change.plan !== meter.ledger(accountId).current.plan) requireSelfServe(change.plan);
      meter.flush();
      // Where the month has turned it is entered first.
      meter.ledger(accountId);
      const view = (state: Parameters<typeof accountView>[1]): AccountView =>
        accountView(plans, state, clock.now());
      try {
        const state = store.changePlan(
          accountId,
          (before) => decidePlanChange(dependencies, ledgerOf(before), change),
          (after) => replyOf(view(after)),
        );
        return view(state);
      } finally {
        meter.forget(accountId);
        keyRing.forget(accountId);
      }
    },

    rotateKey: (accountId, options, replyOf = () => null) => {
      clock.requireTrust();
      return rotateKey(dependencies, accountId, options, replyOf);
    },

    usage: (accountId, range) => {
      meter.flush();
      return usageReport(store, accountId, meter.ledger(accountId).period, clock.now(), range);
    },

    invoices: (accountId, page) => invoicePage(store, accountId, page),
  };
}
