import type { Clock } from "../clock.ts";
import type { InvoiceView } from "../metering/invoice.ts";
import type { Meter } from "../metering/meter.ts";
import type { PlanCatalogue, PlanName } from "../metering/plans.ts";
import type { Store } from "../store/open.ts";
import type { RandomBytes } from "./api-key.ts";
import type { KeyRing } from "./key-ring.ts";

export type SignupFields = {
  readonly email: string;
  /** The key by which two spellings of one mailbox are found to be the same. */
  readonly normalized: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly country: string | null;
  readonly plan: PlanName;
  readonly referralCode: string | null;
};

/** The body of `GET /v1/account`. */
export type AccountView = {
  readonly account_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly country: string | null;
  readonly plan: PlanName;
  readonly pending_plan: PlanName | null;
  readonly created_at: string;
  readonly period: { readonly start: string; readonly end: string };
  readonly usage: {
    readonly units: number;
    readonly included_units: number;
    readonly remaining_units: number | null;
    readonly calls: number;
    readonly by_endpoint: readonly EndpointUsage[];
  };
  readonly limits: {
    readonly requests_per_second: number;
    readonly burst: number;
    readonly max_batch_size: number;
  };
  readonly spend_limit_usd: string | null;
  readonly projected_invoice: InvoiceView;
};

export type EndpointUsage = { readonly endpoint: string; readonly calls: number; readonly units: number };
export type DayUsage = { readonly day: string; readonly calls: number; readonly units: number };

export type UsageView = {
  readonly from: string;
  readonly to: string;
  readonly group_by: "day" | "endpoint";
  readonly rows: readonly (DayUsage | EndpointUsage)[];
};

export type InvoicePage = {
  readonly data: readonly InvoiceView[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

export type RotatedKey = { readonly apiKey: string; readonly oldKeyExpiresAt: string };

export type Accounts = {
  readonly signup: (fields: SignupFields) => { readonly accountId: string; readonly apiKey: string };
  readonly view: (accountId: string) => AccountView;
  readonly changePlan: (
    accountId: string,
    change: { readonly plan: PlanName; readonly spendLimitMicroUsd?: number | null | undefined },
    alongside?: (view: AccountView) => void,
  ) => AccountView;
  readonly rotateKey: (
    accountId: string,
    options: { readonly overlapSeconds: number },
    alongside?: (rotated: RotatedKey) => void,
  ) => RotatedKey;
  readonly usage: (
    accountId: string,
    range: {
      readonly from?: string | null;
      readonly to?: string | null;
      readonly groupBy: "day" | "endpoint";
    },
  ) => UsageView;
  readonly invoices: (
    accountId: string,
    page: { readonly limit: number; readonly startingAfter: string | null },
  ) => InvoicePage;
};

export declare function createAccounts(parts: {
  store: Store;
  meter: Meter;
  keyRing: KeyRing;
  plans: PlanCatalogue;
  clock: Clock;
  randomBytes: RandomBytes;
}): Accounts;
