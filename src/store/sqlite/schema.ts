import { sql } from "drizzle-orm";
import {
  blob,
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { JobStatus } from "../job-records.ts";
import type { DeliveryState, DisabledReason } from "../webhook-port.ts";

// Times are milliseconds since the epoch, money is micro-USD, days are "2026-11-20" in UTC. Only types that
// every SQL database has: text, integers and bytes.

export const accounts = sqliteTable(
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
    /** The plan that begins with the next period. */
    pendingPlan: text("pending_plan"),
    spendLimitMicroUsd: integer("spend_limit_micro_usd"),
    createdAt: integer("created_at").notNull(),
    /** While it is set, the keys of the account are refused. */
    suspendedAt: integer("suspended_at"),
    /** When the personal data of the account was erased. */
    erasedAt: integer("erased_at"),
  },
  (table) => [uniqueIndex("accounts_by_normalized").on(table.normalized)],
);

export const apiKeys = sqliteTable(
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
    /** When its account was notified that it ends soon. */
    expiryEventAt: integer("expiry_event_at"),
  },
  (table) => [
    index("api_keys_by_account").on(table.accountId),
    uniqueIndex("api_keys_by_id").on(table.keyId),
    index("api_keys_without_event")
      .on(table.expiresAt)
      .where(
        sql`${table.expiresAt} is not null and ${table.expiryEventAt} is null and ${table.revokedAt} is null and ${table.rotatesAt} is null`,
      ),
    index("api_keys_unrevoked").on(table.accountId, table.expiresAt).where(sql`${table.revokedAt} is null`),
    index("api_keys_revoked").on(table.accountId, table.revokedAt).where(sql`${table.revokedAt} is not null`),
    index("api_keys_by_expiry").on(table.expiresAt).where(sql`${table.revokedAt} is null`),
    index("api_keys_by_revocation").on(table.revokedAt).where(sql`${table.revokedAt} is not null`),
  ],
);

/**
 * The time an account spent on one plan within one month, with the plan's prices as they were when it began.
 * `ends_at` is null while it runs; `invoice_id` is null until the month is invoiced.
 */
export const planPeriods = sqliteTable(
  "plan_periods",
  {
    planPeriodId: integer("plan_period_id").primaryKey({ autoIncrement: true }),
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
    /** Units of the month that an operator gave for nothing, beyond the included ones. */
    creditedUnits: integer("credited_units").notNull().default(0),
  },
  (table) => [
    index("plan_periods_by_account").on(table.accountId, table.periodStart),
    uniqueIndex("plan_periods_running").on(table.accountId).where(sql`${table.endsAt} is null`),
    index("plan_periods_running_by_end").on(table.periodEnd).where(sql`${table.endsAt} is null`),
    index("plan_periods_to_invoice")
      .on(table.planPeriodId)
      .where(sql`${table.invoiceId} is null and ${table.endsAt} is not null`),
    check("plan_periods_counts", sql`${table.units} >= 0 and ${table.calls} >= 0`),
  ],
);

/**
 * Every charge, one row each: what an invoice can be proved from. A trigger refuses to change or remove one, so a number
 * is never given twice, and none need be kept aside for that: it would be one more page of each charge's commit.
 */
export const usageEvents = sqliteTable(
  "usage_events",
  {
    eventId: integer("event_id").primaryKey(),
    accountId: text("account_id").notNull(),
    planPeriodId: integer("plan_period_id").notNull(),
    at: integer("at").notNull(),
    endpoint: text("endpoint").notNull(),
    units: integer("units").notNull(),
  },
  (table) => [check("usage_events_units", sql`${table.units} > 0`)],
);

/** Shares of a month's units that an account has used up, one row each: its account is notified of each once. */
export const quotaMarks = sqliteTable(
  "quota_marks",
  {
    accountId: text("account_id").notNull(),
    periodStart: integer("period_start").notNull(),
    percent: integer("percent").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.periodStart, table.percent] })],
);

/** Charges and calls, rolled up. */
export const usageDays = sqliteTable(
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

/** Issued invoices: a trigger refuses to change or remove one. `body` is the text that callers get. */
export const invoices = sqliteTable(
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

/** What a call with an Idempotency-Key was answered, until it expires. A large body is a file. */
export const idempotentReplies = sqliteTable(
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
    // With the bytes and the account in it, so that the sums of all accounts are found without reading bodies.
    index("idempotent_replies_by_expiry").on(table.expiresAt, table.bodyBytes, table.accountId),
    index("idempotent_replies_with_file").on(table.bodyFile).where(sql`${table.bodyFile} is not null`),
  ],
);

/** One row, rewritten to find out whether the database takes writes. */
export const probes = sqliteTable("probes", {
  probeId: integer("probe_id").primaryKey(),
  at: integer("at").notNull(),
});

/** One row: the last time that the clock showed while it was trusted, and the time that an operator confirmed last. */
export const keptClock = sqliteTable("kept_clock", {
  clockId: integer("clock_id").primaryKey(),
  keptAt: integer("kept_at").notNull(),
  confirmedAt: integer("confirmed_at"),
});

/** What operators ask of a running server, and its outcome, until it was read. */
export const operatorCommands = sqliteTable("operator_commands", {
  commandId: integer("command_id").primaryKey({ autoIncrement: true }),
  askedAt: integer("asked_at").notNull(),
  operator: text("operator").notNull(),
  command: text("command").notNull(),
  outcome: text("outcome"),
});

/** What operators did. A trigger refuses to change or remove a row. No personal data of an account is in it. */
export const operatorActs = sqliteTable("operator_acts", {
  actId: integer("act_id").primaryKey({ autoIncrement: true }),
  at: integer("at").notNull(),
  operator: text("operator").notNull(),
  action: text("action").notNull(),
  accountId: text("account_id"),
  details: text("details").notNull(),
});

/** Jobs. Their counts stay when their data is erased. */
export const jobs = sqliteTable(
  "jobs",
  {
    jobId: text("job_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    kind: text("kind").notNull(),
    name: text("name"),
    status: text("status").$type<JobStatus>().notNull(),
    statusReason: text("status_reason"),
    createdAt: integer("created_at").notNull(),
    startedAt: integer("started_at"),
    finishedAt: integer("finished_at"),
    expiresAt: integer("expires_at"),
    erasedAt: integer("erased_at"),
    deletedAt: integer("deleted_at"),
    options: text("options").notNull(),
    inputTable: text("input_table"),
    chunkCount: integer("chunk_count").notNull(),
    rows: integer("rows").notNull(),
    distinctRows: integer("distinct_rows").notNull(),
    unitsPerItem: integer("units_per_item").notNull(),
    processed: integer("processed").notNull(),
    counts: text("counts").notNull(),
    unitsCharged: integer("units_charged").notNull(),
    round: integer("round").notNull(),
    isTest: integer("is_test", { mode: "boolean" }).notNull(),
    webhookUrl: text("webhook_url"),
  },
  (table) => [
    index("jobs_by_account").on(table.accountId, table.createdAt, table.jobId),
    index("jobs_by_status").on(table.status),
    index("jobs_listed_by_time")
      .on(table.accountId, table.isTest, table.createdAt, table.jobId)
      .where(sql`${table.deletedAt} is null`),
    index("jobs_listed_by_status")
      .on(table.accountId, table.isTest, table.status, table.createdAt, table.jobId)
      .where(sql`${table.deletedAt} is null`),
    index("jobs_of_account_by_status").on(table.accountId, table.status),
    index("jobs_by_expiry").on(table.expiresAt).where(sql`${table.erasedAt} is null`),
  ],
);

/** The chunk ledger: `waiting`, `claimed` or `done`. */
export const jobChunks = sqliteTable(
  "job_chunks",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    state: text("state").notNull(),
    attempt: integer("attempt").notNull(),
    firstRow: integer("first_row").notNull(),
    rows: integer("rows").notNull(),
    form: text("form").notNull(),
    duplicates: blob("duplicates", { mode: "buffer" }),
    rowsDone: integer("rows_done").notNull(),
    units: integer("units").notNull(),
    unchecked: integer("unchecked").notNull(),
    lineBytes: integer("line_bytes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.n] }),
    index("job_chunks_waiting").on(table.jobId, table.n).where(sql`${table.state} = 'waiting'`),
    index("job_chunks_unfinished").on(table.jobId).where(sql`${table.state} <> 'done'`),
  ],
);

/** The records of a chunk, compressed. */
export const jobInputs = sqliteTable(
  "job_inputs",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    body: blob("body", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.n] })],
);

/** The results of a chunk as JSON lines, compressed, in parts by the rows that were finished when each was written. */
export const jobResults = sqliteTable(
  "job_results",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    rowsDone: integer("rows_done").notNull(),
    body: blob("body", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.n, table.rowsDone] })],
);

/** Addresses of customers that receive events. `due_at` is when one of its deliveries may be claimed next. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    webhookId: text("webhook_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    url: text("url").notNull(),
    /** JSON; null for all. */
    events: text("events"),
    description: text("description"),
    disabledReason: text("disabled_reason").$type<DisabledReason>(),
    secret: text("secret").notNull(),
    formerSecrets: text("former_secrets").notNull(),
    createdAt: integer("created_at").notNull(),
    failingSince: integer("failing_since"),
    failedAt: integer("failed_at"),
    failingMs: integer("failing_ms").notNull().default(0),
    dueAt: integer("due_at"),
  },
  (table) => [
    index("webhooks_by_account").on(table.accountId, table.createdAt, table.webhookId),
    index("webhooks_due").on(table.dueAt).where(sql`${table.dueAt} is not null`),
  ],
);

/** The deliveries to each webhook, those made and those to be made. */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    deliveryId: text("delivery_id").primaryKey(),
    webhookId: text("webhook_id").notNull(),
    accountId: text("account_id").notNull(),
    url: text("url"),
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    body: text("body").notNull(),
    createdAt: integer("created_at").notNull(),
    state: text("state").$type<DeliveryState>().notNull(),
    attempts: integer("attempts").notNull(),
    scheduled: integer("scheduled").notNull(),
    lastAttemptAt: integer("last_attempt_at"),
    nextAttemptAt: integer("next_attempt_at"),
    status: integer("status"),
    error: text("error"),
    latencyMs: integer("latency_ms").notNull(),
    answer: text("answer"),
    claims: integer("claims").notNull().default(0),
  },
  (table) => [
    index("webhook_deliveries_pending")
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_deliveries_sending").on(table.deliveryId).where(sql`${table.state} = 'sending'`),
    index("webhook_deliveries_by_webhook").on(table.webhookId, table.createdAt, table.deliveryId),
    index("webhook_deliveries_by_age").on(table.createdAt),
    index("webhook_deliveries_waiting").on(table.nextAttemptAt).where(sql`${table.state} = 'pending'`),
  ],
);
