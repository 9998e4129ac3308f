import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Every payment whose settlement was to be sent: the row is written before. `request` is what the facilitator is
 * sent, until the outcome is known; `answer` is what was bought, encrypted, until it expires. Times are milliseconds
 * since the epoch.
 */
export const payments = sqliteTable(
  "payments",
  {
    paymentId: text("payment_id").primaryKey(),
    network: text("network").notNull(),
    payer: text("payer").notNull(),
    payTo: text("pay_to").notNull(),
    asset: text("asset").notNull(),
    amountMicroUsd: integer("amount_micro_usd").notNull(),
    resource: text("resource").notNull(),
    x402Version: integer("x402_version").notNull(),
    /** SHA-256 of the signed payment. */
    proof: text("proof").notNull(),
    /** SHA-256 of the request that the payment bought an answer to. */
    fingerprint: text("fingerprint").notNull(),
    state: text("state", { enum: ["settling", "settled", "released"] }).notNull(),
    /** Why it was released. */
    reason: text("reason"),
    /** True where a settlement was sent and its outcome is unknown. */
    isDoubtful: integer("is_doubtful", { mode: "boolean" }).notNull(),
    transaction: text("transaction_id"),
    request: text("request"),
    createdAt: integer("created_at").notNull(),
    settledAt: integer("settled_at"),
    answer: text("answer"),
    answerExpiresAt: integer("answer_expires_at").notNull(),
  },
  (table) => [
    index("payments_settling").on(table.createdAt).where(sql`${table.state} = 'settling'`),
    index("payments_by_answer_expiry").on(table.answerExpiresAt).where(sql`${table.answer} is not null`),
    check("payments_amount", sql`${table.amountMicroUsd} > 0`),
  ],
);
