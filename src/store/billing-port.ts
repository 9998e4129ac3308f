import type { Answer } from "../platform/answer.ts";
import type {
  AccountMonth,
  AccountRecord,
  DayUse,
  EndpointUse,
  InvoiceRecord,
  Month,
  NewPlanPeriod,
  PlanPeriodRecord,
  ReplyRecord,
} from "./account-records.ts";
import type { ChargeSum } from "./charge-sums.ts";
import type { FinishedChunk } from "./job-records.ts";
import type { NewEvent } from "./webhook-port.ts";

/** An invoice to issue, and its event. */
export type NewInvoice = { readonly invoice: InvoiceRecord; readonly event: NewEvent };

/** A share of a month's units that is used up, and its event. */
export type QuotaMark = {
  readonly accountId: string;
  readonly periodStart: number;
  readonly percent: 80 | 100;
  readonly event: NewEvent;
};

export type MonthPort = {
  readonly readMonth: (accountId: string) => Answer<AccountMonth | null>;
  /**
   * Takes accounts into the months that have begun, all or none: ends the running plan period of each with its
   * month and begins those that `monthsOf` returns, oldest first. With the last one the account has its plan.
   */
  readonly enterMonth: (
    accountIds: readonly string[],
    monthsOf: (account: AccountRecord, running: PlanPeriodRecord) => readonly NewPlanPeriod[],
  ) => Answer<void>;
  /** Returns accounts whose running plan period lies in a month that is over. */
  readonly accountsToEnter: (now: number, limit: number) => Answer<readonly string[]>;
};

/** How a commit gets to the disk: before the call returns, or by the next `sync`. */
export type Durability = "at_once" | "with_sync";

export type UsageRecord = {
  /** Added up: each is one event, and one line of its day. */
  readonly sums: readonly ChargeSum[];
  readonly replies: readonly ReplyRecord[];
  /** Chunks of jobs that are paid for by the charges. */
  readonly chunks: readonly FinishedChunk[];
  /** Written with their events where the month of the account lacks them. */
  readonly quotaMarks: readonly QuotaMark[];
  /** The time to keep beside them, or null. */
  readonly keptAt: number | null;
};

export type UsagePort = {
  /** Writes charges in events, counters and days alike, and the replies and chunks of jobs that they pay for. */
  readonly record: (usage: UsageRecord, durability: Durability) => Answer<void>;
  /**
   * Resolves once all that was committed would survive a power cut. The thread goes on meanwhile. Rejects with an
   * UnsettledError where that cannot be known; until it is, nothing is committed.
   */
  readonly sync: () => Promise<void>;
  /** Both days belong to the range. */
  readonly usageByDay: (accountId: string, firstDay: string, lastDay: string) => Answer<readonly DayUse[]>;
  readonly usageByEndpoint: (
    accountId: string,
    firstDay: string,
    lastDay: string,
  ) => Answer<readonly EndpointUse[]>;
  /** Returns the units of all events by plan period: what counters and invoices must agree with. */
  readonly eventUnits: () => Answer<readonly { readonly planPeriodId: number; readonly units: number }[]>;
};

export type InvoicePort = {
  /** Returns the plan periods after `afterId` that have ended, in months that are over, and have no invoice. */
  readonly planPeriodsToInvoice: (
    now: number,
    afterId: number,
    limit: number,
  ) => Answer<readonly PlanPeriodRecord[]>;
  /**
   * Issues the invoices that `invoiceOf` makes of whole months; null leaves a month for later. A month that has
   * its invoice is passed over. Returns how many were issued.
   */
  readonly issueInvoices: (
    months: readonly Month[],
    invoiceOf: (month: Month, planPeriods: readonly PlanPeriodRecord[]) => NewInvoice | null,
  ) => Answer<number>;
  /** Returns issued invoices, newest first, after the one named; null where the account has none of that name. */
  readonly invoicePage: (
    accountId: string,
    afterInvoiceId: string | null,
    limit: number,
  ) => Answer<readonly InvoiceRecord[] | null>;
};

export type ReplyPort = {
  readonly findReply: (accountId: string, idempotencyKey: string) => Answer<ReplyRecord | null>;
  /** Removes up to `limit` replies that have expired; returns what they took. */
  readonly removeExpiredReplies: (
    now: number,
    limit: number,
  ) => Answer<readonly Pick<ReplyRecord, "accountId" | "idempotencyKey" | "bodyBytes" | "bodyFile">[]>;
  readonly replyFiles: () => Answer<readonly string[]>;
  /** Returns how many replies of each account are kept, and the bytes of their bodies. */
  readonly keptReplies: () => Answer<
    readonly { readonly accountId: string; readonly bytes: number; readonly count: number }[]
  >;
};
