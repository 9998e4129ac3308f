import type { BillingClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import type { Store } from "../store/open.ts";
import { type AccountView, accountView } from "./account-view.ts";
import type { RandomBytes } from "./api-key.ts";
import { type InvoicePage, invoicePage } from "./invoice-list.ts";
import type { KeyRing } from "./key-ring.ts";
import { type RotatedKey, rotateKey } from "./key-rotation.ts";
import { applyPlanChange, type PlanChange } from "./plan-change.ts";
import { type SignedUp, type SignupFields, signUp } from "./signup.ts";
import { type UsageRange, type UsageView, usageReport } from "./usage-report.ts";

export type Accounts = {
  /** Throws an ApiError `account_exists` where the mailbox has an account. */
  readonly signup: (fields: SignupFields) => SignedUp;
  readonly view: (accountId: string) => AccountView;
  /** `alongside` writes in the same transaction as the change. */
  readonly changePlan: (
    accountId: string,
    change: PlanChange,
    alongside?: (view: AccountView) => void,
  ) => AccountView;
  /** `alongside` writes in the same transaction as the new key. */
  readonly rotateKey: (
    accountId: string,
    options: { readonly overlapSeconds: number },
    alongside?: (rotated: RotatedKey) => void,
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
  store: Store;
  meter: Meter;
  keyRing: KeyRing;
  plans: PlanCatalogue;
  clock: BillingClock;
  randomBytes: RandomBytes;
}): Accounts {
  const { store, meter, keyRing, clock } = dependencies;
  const viewNow = (accountId: string): AccountView =>
    accountView(dependencies, meter.ledger(accountId), clock.now());

  return {
    signup: (fields) => {
      clock.requireTrust();
      return signUp(dependencies, fields);
    },

    view: (accountId) => {
      meter.flush();
      return viewNow(accountId);
    },

    changePlan: (accountId, change, alongside = () => {}) => {
      clock.requireTrust();
      meter.flush();
      const ledger = meter.ledger(accountId);
      try {
        return store.transact(() => {
          applyPlanChange(dependencies, ledger, change);
          meter.forget(accountId);
          const view = viewNow(accountId);
          alongside(view);
          return view;
        });
      } catch (error) {
        // What memory read inside the transaction was undone with it.
        meter.forget(accountId);
        throw error;
      } finally {
        keyRing.forget(accountId);
      }
    },

    rotateKey: (accountId, { overlapSeconds }, alongside = () => {}) => {
      clock.requireTrust();
      return rotateKey(dependencies, accountId, overlapSeconds, alongside);
    },

    usage: (accountId, range) => {
      meter.flush();
      return usageReport(store, accountId, meter.ledger(accountId).period, clock.now(), range);
    },

    invoices: (accountId, page) => invoicePage(store, accountId, page),
  };
}
