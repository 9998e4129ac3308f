import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { JobStatus } from "../job-records.ts";
import type { DeliveryState, DisabledReason } from "../webhook-port.ts";
import { withoutNul } from "./foreign-text.ts";

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

const bytes = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => "bytea",
  fromDriver: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
});
/** Text from outside: the server takes no NUL in it. */
const foreignText = customType<{ data: string; driverData: string }>({
  dataType: () => "text",
  toDriver: withoutNul,
});

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
  (table) => [
    uniqueIndex("accounts_by_normalized").on(table.normalized),
    index("accounts_erased").on(table.accountId).where(sql`${table.erasedAt} is not null`),
  ],
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
    index("plan_periods_to_enter")
      .on(table.periodEnd, table.planPeriodId)
      .where(sql`${table.endsAt} is null`),
    index("plan_periods_to_invoice")
      .on(table.planPeriodId)
      .where(sql`${table.invoiceId} is null and ${table.endsAt} is not null`),
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

/** The public keys of all nodes: what one of them signed is held against the keys that another one lists. */
export const signingKeys = pgTable("signing_keys", {
  kid: text("kid").primaryKey(),
  x: text("x").notNull(),
  sharedAt: integer("shared_at").notNull(),
});

/**
 * When the burst of an account is full again, by the server's clock in microseconds, and the greatest age of the calls
 * that were counted since it was full last.
 */
export const accountRates = pgTable("account_rates", {
  accountId: text("account_id").primaryKey(),
  fullAtUs: integer("full_at_us").notNull(),
  ageUsMax: integer("age_us_max").notNull(),
});

/** Jobs. `reader` is the process that reads the input of one that is being received. */
export const jobs = pgTable(
  "jobs",
  {
    jobId: text("job_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    kind: text("kind").notNull(),
    name: foreignText("name"),
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
    isTest: boolean("is_test").notNull(),
    webhookUrl: text("webhook_url"),
    reader: text("reader"),
    readUntil: integer("read_until"),
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

/** The chunk ledger: `waiting`, `claimed` by `owner` until the end of its lease by the server's clock, or `done`. */
export const jobChunks = pgTable(
  "job_chunks",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    state: text("state").notNull(),
    attempt: integer("attempt").notNull(),
    firstRow: integer("first_row").notNull(),
    rows: integer("rows").notNull(),
    form: text("form").notNull(),
    duplicates: bytes("duplicates"),
    rowsDone: integer("rows_done").notNull(),
    units: integer("units").notNull(),
    unchecked: integer("unchecked").notNull(),
    lineBytes: integer("line_bytes").notNull(),
    owner: text("owner"),
    leaseUntil: integer("lease_until"),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.n] }),
    index("job_chunks_waiting").on(table.jobId, table.n).where(sql`${table.state} = 'waiting'`),
    index("job_chunks_claimed").on(table.jobId, table.n).where(sql`${table.state} = 'claimed'`),
  ],
);

/** The records of a chunk, compressed. */
export const jobInputs = pgTable(
  "job_inputs",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    body: bytes("body").notNull(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.n] })],
);

/** The results of a chunk as JSON lines, compressed, in parts by the rows that were finished when each was written. */
export const jobResults = pgTable(
  "job_results",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    rowsDone: integer("rows_done").notNull(),
    body: bytes("body").notNull(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.n, table.rowsDone] })],
);

/** The parts of uploads that are whole. */
export const jobParts = pgTable(
  "job_parts",
  {
    jobId: text("job_id").notNull(),
    n: integer("n").notNull(),
    accountId: text("account_id").notNull(),
    partId: text("part_id").notNull(),
    bytes: integer("bytes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.n] }),
    index("job_parts_by_account").on(table.accountId),
  ],
);

/** The bytes of parts, in compressed pieces, of those that are being written too. */
export const jobPartFrames = pgTable(
  "job_part_frames",
  {
    partId: text("part_id").notNull(),
    frame: integer("frame").notNull(),
    jobId: text("job_id").notNull(),
    body: bytes("body").notNull(),
    writtenAt: integer("written_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.partId, table.frame] }),
    index("job_part_frames_by_job").on(table.jobId),
    index("job_part_frames_by_time").on(table.writtenAt),
  ],
);

/** Addresses of customers that receive events. `due_at` is when one of its deliveries may be claimed next. */
export const webhooks = pgTable(
  "webhooks",
  {
    webhookId: text("webhook_id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.accountId),
    url: text("url").notNull(),
    /** JSON; null for all. */
    events: text("events"),
    description: foreignText("description"),
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

/** The deliveries to each webhook; one that is being sent is held by `owner` until the end of its lease. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    deliveryId: text("delivery_id").primaryKey(),
    webhookId: text("webhook_id").notNull(),
    accountId: text("account_id").notNull(),
    url: text("url"),
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    body: foreignText("body").notNull(),
    createdAt: integer("created_at").notNull(),
    state: text("state").$type<DeliveryState>().notNull(),
    attempts: integer("attempts").notNull(),
    scheduled: integer("scheduled").notNull(),
    lastAttemptAt: integer("last_attempt_at"),
    nextAttemptAt: integer("next_attempt_at"),
    status: integer("status"),
    error: text("error"),
    latencyMs: integer("latency_ms").notNull(),
    answer: foreignText("answer"),
    claims: integer("claims").notNull().default(0),
    owner: text("owner"),
    leaseUntil: integer("lease_until"),
  },
  (table) => [
    index("webhook_deliveries_pending")
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_deliveries_sending").on(table.leaseUntil).where(sql`${table.state} = 'sending'`),
    index("webhook_deliveries_by_webhook").on(table.webhookId, table.createdAt, table.deliveryId),
    index("webhook_deliveries_by_age").on(table.createdAt),
  ],
);

/** What is published of the directory; the process that may publish holds it by `owner` until the end of its lease. */
export const directoryState = pgTable("directory_state", {
  stateId: integer("state_id").primaryKey(),
  owner: text("owner"),
  leaseUntil: integer("lease_until"),
  /** Counts the owners. */
  term: integer("term").notNull().default(0),
  /** Counts the publications. */
  revision: integer("revision").notNull().default(0),
  /** JSON; null before the first. */
  state: text("state"),
  syncedAt: integer("synced_at").notNull().default(0),
  upstreamAgeMs: integer("upstream_age_ms").notNull().default(0),
});

/** The files of that state in parts, each by the byte of the file that it starts at. */
export const directoryParts = pgTable(
  "directory_parts",
  {
    file: text("file").notNull(),
    startsAt: integer("starts_at").notNull(),
    body: bytes("body").notNull(),
  },
  (table) => [primaryKey({ columns: [table.file, table.startsAt] })],
);
