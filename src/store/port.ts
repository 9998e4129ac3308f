import type { Answer, AtOnce } from "../platform/answer.ts";
import type { AdmitPort } from "./admit-port.ts";
import type { DirectoryTurnPort } from "./directory-port.ts";
import type { FinishedChunk, JobPort } from "./job-port.ts";
import type { LeasePort } from "./lease-port.ts";
import type { OperatorPort } from "./operator-port.ts";
import type { PartPort } from "./part-port.ts";
import type { NewEvent, WebhookPort } from "./webhook-port.ts";

// What the program asks of its store, one function a use case: each is one transaction, whole or not at all. Times
// are milliseconds since the epoch, money is micro-USD, days are "2026-11-20" in UTC. Functions that are passed in
// run inside the transaction: they compute, and ask no store. Everything may throw a StorageError.

export type AccountRecord = {
  readonly accountId: string;
  readonly email: string;
  /** The key by which two spellings of one mailbox are found to be the same. */
  readonly normalized: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly country: string | null;
  readonly referralCode: string | null;
  readonly plan: string;
  /** The plan that begins with the next period. */
  readonly pendingPlan: string | null;
  readonly spendLimitMicroUsd: number | null;
  readonly createdAt: number;
  /** While it is set, the keys of the account are refused. */
  readonly suspendedAt: number | null;
  /** When the personal data of the account was erased. */
  readonly erasedAt: number | null;
};

export type KeyRecord = {
  /** The SHA-256 of the key, in hex. */
  readonly keyHash: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly name: string | null;
  /** Prefix and last four characters. */
  readonly hint: string;
  /** Words with spaces between them. */
  readonly scopes: string;
  readonly createdAt: number;
  /** Exact to the hour; null before the first call. */
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  /** The end that a rotation has set. */
  readonly rotatesAt: number | null;
  readonly revokedAt: number | null;
};

/** A key with what is asked at every call of the account that it belongs to. */
export type FoundKey = KeyRecord & { readonly plan: string; readonly suspendedAt: number | null };

export type NewPlanPeriod = {
  readonly accountId: string;
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly plan: string;
  readonly monthlyPriceMicroUsd: number;
  readonly includedUnits: number;
  readonly overagePriceMicroUsd: number | null;
  readonly startsAt: number;
};

/** The time an account spent on one plan within one month, with the plan's prices as they were when it began. */
export type PlanPeriodRecord = NewPlanPeriod & {
  readonly planPeriodId: number;
  /** Null while it runs. */
  readonly endsAt: number | null;
  readonly units: number;
  readonly calls: number;
  /** Null until the month is invoiced. */
  readonly invoiceId: string | null;
  readonly creditedUnits: number;
};

/** An account and the plan periods of its running month, in the order in which they began; the last one runs. */
export type AccountMonth = {
  readonly account: AccountRecord;
  readonly planPeriods: readonly PlanPeriodRecord[];
};

export type EndpointUse = { readonly endpoint: string; readonly calls: number; readonly units: number };
export type DayUse = { readonly day: string; readonly calls: number; readonly units: number };

/** A charge, or a call of no units. */
export type ChargeEntry = {
  readonly accountId: string;
  readonly planPeriodId: number;
  readonly at: number;
  readonly endpoint: string;
  readonly units: number;
  readonly calls: number;
};

/** What a call with an Idempotency-Key was answered. A large body is a file beside the store. */
export type ReplyRecord = {
  readonly accountId: string;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly expiresAt: number;
  readonly headers: string;
  readonly bodyFile: string | null;
  readonly body: string | null;
};

export type Month = {
  readonly accountId: string;
  readonly periodStart: number;
  readonly periodEnd: number;
};

export type InvoiceRecord = Month & {
  readonly invoiceId: string;
  readonly units: number;
  readonly totalMicroUsd: number;
  /** The text that callers get. */
  readonly body: string;
  readonly issuedAt: number;
};

/** An invoice to issue, and its event. */
export type NewInvoice = { readonly invoice: InvoiceRecord; readonly event: NewEvent };

/** A share of a month's units that is used up, and its event. */
export type QuotaMark = {
  readonly accountId: string;
  readonly periodStart: number;
  readonly percent: 80 | 100;
  readonly event: NewEvent;
};

/** What a change of plan writes; what is left out stays. */
export type PlanDecision = {
  readonly plan: string;
  readonly pendingPlan: string | null;
  readonly spendLimitMicroUsd?: number | null | undefined;
  /** Ends the running plan period where it starts. */
  readonly started: NewPlanPeriod | null;
};

/** An account's month and what was used in it, endpoint by endpoint. */
export type AccountOverview = { readonly month: AccountMonth; readonly usage: readonly EndpointUse[] };

/** Makes the reply to keep of what a change came to. */
export type ReplyOf<Outcome> = (outcome: Outcome) => ReplyRecord | null;

export type AccountPort = {
  /** False, and nothing written, where an account with this normalized mailbox exists. */
  readonly signUp: (account: AccountRecord, key: KeyRecord, planPeriod: NewPlanPeriod) => Answer<boolean>;
  readonly findAccount: (accountId: string) => Answer<AccountRecord | null>;
  readonly readOverview: (accountId: string) => Answer<AccountOverview>;
  /** Returns the account as it is afterwards. `decide` is shown it as it was. */
  readonly changePlan: (
    accountId: string,
    decide: (before: AccountMonth) => PlanDecision,
    replyOf: ReplyOf<AccountOverview>,
  ) => Answer<AccountOverview>;
};

export type KeyPort = {
  readonly findKey: (keyHash: string) => Answer<FoundKey | null>;
  /** Returns the keys of an account that work, or ended after `endedAfter`, oldest first. */
  readonly listKeys: (accountId: string, endedAfter: number) => Answer<readonly KeyRecord[]>;
  /** False, and nothing written, where `keysMax` keys of the account work. */
  readonly addKey: (key: KeyRecord, keysMax: number, reply: ReplyRecord | null) => Answer<boolean>;
  /**
   * Adds a key in the place of another, or of all others where `keyId` is null: these end at `endsAt`, unless they
   * end before. False, and nothing written, where there is no such key that works.
   */
  readonly rotateKey: (
    key: KeyRecord,
    replaced: { readonly keyId: string | null; readonly endsAt: number },
    reply: ReplyRecord | null,
  ) => Answer<boolean>;
  /** Ends a key. `check` is shown the keys that work, and throws to keep it. False where there is no such one. */
  readonly revokeKey: (
    accountId: string,
    keyId: string,
    at: number,
    check: (working: readonly KeyRecord[]) => void,
  ) => Answer<boolean>;
  readonly markKeysUsed: (
    uses: readonly { readonly keyHash: string; readonly lastUsedAt: number }[],
  ) => Answer<void>;
  /**
   * Emits the events of up to `limit` keys that end after one time and until another, each key once; returns how many.
   * Keys that were revoked or rotated are passed over.
   */
  readonly emitExpiringKeys: (
    ending: { readonly after: number; readonly until: number; readonly limit: number },
    eventOf: (key: KeyRecord) => NewEvent,
  ) => Answer<number>;
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
  readonly entries: readonly ChargeEntry[];
  readonly replies: readonly ReplyRecord[];
  /** Chunks of jobs that are paid for by the entries. */
  readonly chunks: readonly FinishedChunk[];
  /** Written with their events where the month of the account lacks them. */
  readonly quotaMarks: readonly QuotaMark[];
  /** The time to keep beside them, or null. */
  readonly keptAt: number | null;
};

export type UsagePort = {
  /** Writes charges, and the replies and chunks of jobs that they pay for. What is charged is added up: events, counters, days. */
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
  ) => Answer<readonly Pick<ReplyRecord, "accountId" | "bodyBytes">[]>;
  readonly replyFiles: () => Answer<readonly string[]>;
  /** Returns how many replies of each account are kept, and the bytes of their bodies. */
  readonly keptReplies: () => Answer<
    readonly { readonly accountId: string; readonly bytes: number; readonly count: number }[]
  >;
};

export type Upkeep = {
  /** Throws a StorageError while it is not known whether a commit is on the disk: nothing may be acknowledged then. */
  readonly requireSettled: () => Answer<void>;
  /** Writes and commits one row. Throws a StorageError where calls could not be charged now. */
  readonly probe: () => Answer<void>;
  readonly isOpen: () => boolean;
  /** Returns the bytes that the rows take, and those inside the store that are free for new ones. */
  readonly space: () => Answer<{ readonly usedBytes: number; readonly freeBytes: number }>;
  readonly stats: () => { readonly errors: number };
  /** Frees what it holds. Closing twice is closing once. */
  readonly close: () => void;
};

/** Accounts and what is counted and billed of them. */
export type AccountingStore = AccountPort &
  KeyPort &
  MonthPort &
  UsagePort &
  InvoicePort &
  ReplyPort &
  OperatorPort &
  Upkeep;

export type Store = AccountingStore & JobPort & WebhookPort;

/** A store that other processes write to as well: what is read of it may be old at once. */
export type SharedStore = Store & AdmitPort & LeasePort & PartPort & DirectoryTurnPort;

/**
 * A store inside this process, which answers at once and has no other writer: what is read of it holds until this
 * process changes it.
 */
export type EmbeddedStore = AtOnce<Store>;
