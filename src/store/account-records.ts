// Accounts and what is counted and billed of them, as the store keeps it. Times are milliseconds since the epoch, money
// is micro-USD, days are "2026-11-20" in UTC.

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
export type FoundKey = KeyRecord & {
  readonly plan: string;
  readonly suspendedAt: number | null;
  /** It has expired by the clock of the store, where that is another one than the caller's. */
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

/**
 * What a call with an Idempotency-Key was answered. A large body is a file beside the store; one with both was a file
 * of the store that it was carried over from.
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
  /** The text that callers get. */
  readonly body: string;
  readonly issuedAt: number;
};
