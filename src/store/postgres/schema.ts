import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  customType,
  index,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";

// The tables of the SQLite schema, column for column (see schema-match.ts), and those that nodes share beside them.
// Times are milliseconds since the epoch, money is micro-USD, days are "2026-11-20" in UTC.

/** The server would round a fraction. */
const integer = customType<{ data: number; driverData: string | number }>({
  dataType: () => "bigint",
  fromDriver: Number,
  toDriver: (value) => {
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is no integer`);
    return value;
  },
});
const serial = (name: string) => bigint(name, { mode: "number" }).generatedAlwaysAsIdentity();

export const accounts = pgTable(
  "accounts",
  {
    accountId: text("account_id").primaryKey(),
    email: text("email").notNull(),
    normalized: text("normalized").notNull(),
    name: text("name"),
    company: text("company"),
    country: text("country"),
    referralCode: text("referral_code"),
    plan: text("plan").notNull(),
    pendingPlan: text("pending_plan"),
    spendLimitMicroUsd: integer("spend_limit_micro_usd"),
    createdAt: integer("created_at").notNull(),
    suspendedAt: integer("suspended_at"),
    erasedAt: integer("erased_at"),
  },
  (table) => [uniqueIndex("accounts_by_normalized").on(table.normalized)],
);

export const apiKeys = pgTable(
  "api_keys",
  {
    keyHash: text("key_hash").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    keyId: text("key_id").notNull().default(""),
    name: text("name"),
    hint: text("hint").notNull().default("asy_"),
    scopes: text("scopes").notNull().default("verify read account"),
    lastUsedAt: integer("last_used_at"),
    rotatesAt: integer("rotates_at"),
    revokedAt: integer("revoked_at"),
    expiryEventAt: integer("expiry_event_at"),
  },
  (table) => [
    index("api_keys_by_account").on(table.accountId),
    uniqueIndex("api_keys_by_id").on(table.keyId),
    index("api_keys_expiring")
      .on(table.expiresAt)
      .where(sql`${table.expiresAt} is not null and ${table.expiryEventAt} is null`),
  ],
);

export const planPeriods = pgTable(
  "plan_periods",
  {
    planPeriodId: serial("plan_period_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    periodStart: integer("period_start").notNull(),
    periodEnd: integer("period_end").notNull(),
    plan: text("plan").notNull(),
    monthlyPriceMicroUsd: integer("monthly_price_micro_usd").notNull(),
    includedUnits: integer("included_units").notNull(),
    overagePriceMicroUsd: integer("overage_price_micro_usd"),
    startsAt: integer("starts_at").notNull(),
    endsAt: integer("ends_at"),
    units: integer("units").notNull().default(0),
    calls: integer("calls").notNull().default(0),
    invoiceId: text("invoice_id"),
    creditedUnits: integer("credited_units").notNull().default(0),
  },
  (table) => [
    index("plan_periods_by_account").on(table.accountId, table.periodStart),
    uniqueIndex("plan_periods_running").on(table.accountId).where(sql`${table.endsAt} is null`),
    index("plan_periods_running_by_end").on(table.periodEnd).where(sql`${table.endsAt} is null`),
    index("plan_periods_uninvoiced_by_end").on(table.periodEnd).where(sql`${table.invoiceId} is null`),
    check("plan_periods_counts", sql`${table.units} >= 0 and ${table.calls} >= 0`),
  ],
);

export const usageEvents = pgTable(
  "usage_events",
  {
    eventId: serial("event_id").primaryKey(),
    accountId: text("account_id").notNull(),
    planPeriodId: integer("plan_period_id").notNull(),
    at: integer("at").notNull(),
    endpoint: text("endpoint").notNull(),
    units: integer("units").notNull(),
  },
  (table) => [check("usage_events_units", sql`${table.units} > 0`)],
);

export const quotaMarks = pgTable(
  "quota_marks",
  {
    accountId: text("account_id").notNull(),
    periodStart: integer("period_start").notNull(),
    percent: integer("percent").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.periodStart, table.percent] })],
);

export const usageDays = pgTable(
  "usage_days",
  {
    accountId: text("account_id").notNull(),
    day: text("day").notNull(),
    endpoint: text("endpoint").notNull(),
    calls: integer("calls").notNull(),
    units: integer("units").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.endpoint] })],
);

export const invoices = pgTable(
  "invoices",
  {
    invoiceId: text("invoice_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    periodStart: integer("period_start").notNull(),
    periodEnd: integer("period_end").notNull(),
    units: integer("units").notNull(),
    totalMicroUsd: integer("total_micro_usd").notNull(),
    body: text("body").notNull(),
    issuedAt: integer("issued_at").notNull(),
  },
  (table) => [uniqueIndex("invoices_by_period").on(table.accountId, table.periodStart)],
);

export const idempotentReplies = pgTable(
  "idempotent_replies",
  {
    accountId: text("account_id").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    fingerprint: text("fingerprint").notNull(),
    status: integer("status").notNull(),
    bodyBytes: integer("body_bytes").notNull(),
    expiresAt: integer("expires_at").notNull(),
    headers: text("headers").notNull(),
    bodyFile: text("body_file"),
    body: text("body"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.idempotencyKey] }),
    index("idempotent_replies_by_expiry").on(table.expiresAt, table.bodyBytes),
  ],
);

export const probes = pgTable("probes", {
  probeId: integer("probe_id").primaryKey(),
  at: integer("at").notNull(),
});

export const keptClock = pgTable("kept_clock", {
  clockId: integer("clock_id").primaryKey(),
  keptAt: integer("kept_at").notNull(),
  confirmedAt: integer("confirmed_at"),
});

export const operatorCommands = pgTable("operator_commands", {
  commandId: serial("command_id").primaryKey(),
  askedAt: integer("asked_at").notNull(),
  operator: text("operator").notNull(),
  command: text("command").notNull(),
  outcome: text("outcome"),
});

export const operatorActs = pgTable("operator_acts", {
  actId: serial("act_id").primaryKey(),
  at: integer("at").notNull(),
  operator: text("operator").notNull(),
  action: text("action").notNull(),
  accountId: text("account_id"),
  details: text("details").notNull(),
});

/** Groups of charges by the process that wrote them: what became of the last one, for a process that got no answer. */
export const flushes = pgTable("flushes", {
  processId: text("process_id").primaryKey(),
  sequence: integer("sequence").notNull(),
  outcome: text("outcome").notNull(),
  writtenAt: integer("written_at").notNull(),
});

/** Calls with an Idempotency-Key that run, until the end of their lease by the server's clock. */
export const idempotencyClaims = pgTable(
  "idempotency_claims",
  {
    accountId: text("account_id").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    fingerprint: text("fingerprint").notNull(),
    processId: text("process_id").notNull(),
    leaseUntil: integer("lease_until").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.idempotencyKey] }),
    index("idempotency_claims_by_process").on(table.processId),
  ],
);

/** When the keys, the plan or the month of an account were changed last, by the server's clock. */
export const accountChanges = pgTable(
  "account_changes",
  {
    accountId: text("account_id").primaryKey(),
    changedAt: integer("changed_at").notNull(),
  },
  (table) => [index("account_changes_by_time").on(table.changedAt)],
);

/**
 * When the burst of an account is full again, by the server's clock in microseconds, and the greatest age of the calls
 * that were counted since it was full last.
 */
export const accountRates = pgTable("account_rates", {
  accountId: text("account_id").primaryKey(),
  fullAtUs: integer("full_at_us").notNull(),
  ageUsMax: integer("age_us_max").notNull(),
});
