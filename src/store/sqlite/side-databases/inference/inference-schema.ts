import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Every receipt. `begun` is what is known of it at the start; the rest is there once it is issued. */
export const receipts = sqliteTable(
  "receipts",
  {
    receiptId: text("receipt_id").primaryKey(),
    paymentId: text("payment_id").notNull(),
    begun: text("begun").notNull(),
    position: integer("position").unique(),
    day: text("day"),
    jws: text("jws"),
    sha256: text("sha256"),
  },
  (table) => [
    index("receipts_open").on(table.receiptId).where(sql`${table.position} is null`),
    index("receipts_by_payment").on(table.paymentId),
    index("receipts_by_day").on(table.day, table.position),
  ],
);

/** The Merkle tree of each day's receipts. */
export const receiptDays = sqliteTable("receipt_days", {
  day: text("day").primaryKey(),
  tree: text("tree").notNull(),
});

/**
 * Calls that are answered later. `sealed` is the call and `answer` its answer, both encrypted; times are milliseconds
 * since the epoch.
 */
export const tasks = sqliteTable(
  "tasks",
  {
    taskId: text("task_id").primaryKey(),
    state: text("state", { enum: ["running", "done", "failed"] }).notNull(),
    sealed: text("sealed"),
    answer: text("answer"),
    createdAt: integer("created_at").notNull(),
    endedAt: integer("ended_at"),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("tasks_running").on(table.createdAt).where(sql`${table.state} = 'running'`),
    index("tasks_by_expiry").on(table.expiresAt),
  ],
);
