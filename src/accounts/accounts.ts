import type { BillingClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import { type Ledger, ledgerOf } from "../billing/usage-ledger.ts";
import { ApiError } from "../contract/errors.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { type Answer, type AtOnce, after, finallyDo } from "../platform/answer.ts";
import type { ReplyOf } from "../store/account-port.ts";
import type { AccountingStore, EmbeddedStore } from "../store/port.ts";
import { type AccountView, accountView } from "./account-view.ts";
import type { RandomBytes } from "./api-key.ts";
import { type InvoicePage, invoicePage } from "./invoice-list.ts";
import type { KeyRing } from "./key-ring.ts";
import { type KeyRotation, type RotatedKey, rotateKey } from "./key-rotation.ts";
import { decidePlanChange, type PlanChange } from "./plan-change.ts";
import { type SignedUp, type SignupFields, signUp } from "./signup.ts";
import { type UsageRange, type UsageView, usageReport } from "./usage-report.ts";

export type Accounts = {
  /** Throws an ApiError `account_exists` where the mailbox has an account. */
  readonly signup: (fields: SignupFields) => Answer<SignedUp>;
  readonly view: (accountId: string) => Answer<AccountView>;
  /** Writes the reply of `replyOf` in the transaction of the change. */
  readonly changePlan: (
    accountId: string,
    change: PlanChange,
    replyOf?: ReplyOf<AccountView>,
  ) => Answer<AccountView>;
  /** Writes the reply of `replyOf` in the transaction of the new key. */
  readonly rotateKey: (
    accountId: string,
    options: KeyRotation,
    replyOf?: ReplyOf<RotatedKey>,
  ) => Answer<RotatedKey>;
  /** Throws an ApiError `invalid_request` for impossible dates. */
  readonly usage: (accountId: string, range: UsageRange) => Answer<UsageView>;
  /** Throws an ApiError `invalid_request` for an unknown cursor. */
  readonly invoices: (
    accountId: string,
    page: { readonly limit: number; readonly startingAfter: string | null },
  ) => Answer<InvoicePage>;
};

type AccountsDependencies<Stored, Metering, Ring> = {
  readonly store: Stored;
  readonly meter: Metering;
  readonly keyRing: Ring;
  readonly plans: PlanCatalogue;
  readonly clock: BillingClock;
  /** Plans that callers may choose; all of them unless given. */
  readonly selfServePlans?: readonly PlanName[];
  readonly randomBytes: RandomBytes;
};

/** Creates the operations of an account's owner. While the clock is in doubt nothing is changed. */
export function createAccounts(
  dependencies: AccountsDependencies<EmbeddedStore, AtOnce<Meter>, AtOnce<KeyRing>>,
): AtOnce<Accounts>;
export function createAccounts(dependencies: AccountsDependencies<AccountingStore, Meter, KeyRing>): Accounts;
export function createAccounts(
  dependencies: AccountsDependencies<AccountingStore, Meter, KeyRing>,
): Accounts {
  const { store, meter, keyRing, plans, clock, selfServePlans = PLAN_NAMES } = dependencies;
  const requireSelfServe = (plan: PlanName): void => {
    if (selfServePlans.includes(plan)) return;
    const message = `plan must be one of ${selfServePlans.join(", ")}; the operator sets others.`;
    throw new ApiError("invalid_request", message);
  };

  /** Writes what of the account waits, and enters the current month. */
  const flushed = (accountId: string): Answer<Ledger> =>
    after(meter.flush(accountId), () => meter.ledger(accountId));

  return {
    signup: (fields) => {
      clock.requireTrust();
      requireSelfServe(fields.plan);
      return signUp(dependencies, fields);
    },

    view: (accountId) =>
      after(flushed(accountId), () =>
        after(store.readOverview(accountId), (overview) => accountView(plans, overview, clock.now())),
      ),

    changePlan: (accountId, change, replyOf = () => null) => {
      clock.requireTrust();
      const view = (state: Parameters<typeof accountView>[1]): AccountView =>
        accountView(plans, state, clock.now());
      const make = (): Answer<AccountView> =>
        after(
          store.changePlan(
            accountId,
            (before) => decidePlanChange(dependencies, ledgerOf(before), change),
            (changed) => replyOf(view(changed)),
          ),
          view,
        );
      return after(meter.ledger(accountId), ({ current }) => {
        if (change.plan !== current.plan) requireSelfServe(change.plan);
        return after(flushed(accountId), () =>
          finallyDo(make, () => {
            meter.forget(accountId);
            keyRing.forget(accountId);
          }),
        );
      });
    },

    rotateKey: (accountId, options, replyOf = () => null) => {
      clock.requireTrust();
      return rotateKey(dependencies, accountId, options, replyOf);
    },

    usage: (accountId, range) =>
      after(flushed(accountId), ({ period }) => usageReport(store, accountId, period, clock.now(), range)),

    invoices: (accountId, page) => invoicePage(store, accountId, page),
  };
}
