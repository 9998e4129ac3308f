// The records of accounts, usage and invoices. Times are milliseconds since the epoch, money is micro-USD, days are
// "2026-11-20" in UTC.

export type AccountRecord = {
  readonly accountId: string;
  readonly email: string;
  /** The normalised mailbox, which is the same for all its spellings. */
  readonly normalized: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly country: string | null;
  readonly referralCode: string | null;
  readonly plan: string;
  /** The plan that starts with the next month. */
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
  /** Words separated by spaces. */
  readonly scopes: string;
  readonly createdAt: number;
  /** Exact to the hour; null before the first call. */
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  /** The expiry that a rotation has set. */
  readonly rotatesAt: number | null;
  readonly revokedAt: number | null;
};

/** A use of a key, exact to the hour. */
export type KeyUse = { readonly keyHash: string; readonly lastUsedAt: number };

/** A key with the fields of its account that every call needs. */
export type FoundKey = KeyRecord & {
  readonly plan: string;
  readonly suspendedAt: number | null;
  /** Whether it has expired by the clock of a shared store. */
  readonly isExpiredThere?: boolean;
};

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

/** The time for which an account had one plan within one month, with the plan's prices at its start. */
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

/** An account and the plan periods of its running month, in order of their starts; the last one is running. */
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

/**
 * The kept reply to a call with an Idempotency-Key. A streamed body is a file beside the store; with both a body and a
 * file name, the row holds what else the file would.
 */
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
  /** The body as callers get it. */
  readonly body: string;
  readonly issuedAt: number;
};
