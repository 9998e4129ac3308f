import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProbeStatus } from "../../../probe-port.ts";

/** The last probe of each resource. Times are milliseconds since the epoch. */
export const probedResources = sqliteTable("probed_resources", {
  url: text("url").primaryKey(),
  host: text("host").notNull(),
  method: text("method").notNull(),
  probedAt: integer("probed_at").notNull(),
  status: text("status").$type<ProbeStatus>().notNull(),
  ms: integer("ms"),
  accepts: text("accepts").notNull(),
  payTo: text("pay_to"),
  payToFirstSeen: integer("pay_to_first_seen"),
  payToChangedAt: integer("pay_to_changed_at"),
  priceMicroUsd: integer("price_micro_usd"),
});

/** The probes of one resource on one day; `latencies` is a JSON array of counts. */
export const probeDays = sqliteTable(
  "probe_days",
  {
    url: text("url").notNull(),
    day: text("day").notNull(),
    host: text("host").notNull(),
    paid: integer("paid").notNull(),
    down: integer("down").notNull(),
    blocked: integer("blocked").notNull(),
    paymentBroken: integer("payment_broken").notNull(),
    latencies: text("latencies", { mode: "json" }).$type<readonly number[]>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.url, table.day] }),
    index("probe_days_by_host").on(table.host, table.day),
    index("probe_days_by_day").on(table.day),
  ],
);

/** Each change of a price or a payee. */
export const probeChanges = sqliteTable(
  "probe_changes",
  {
    n: integer("n").primaryKey({ autoIncrement: true }),
    host: text("host").notNull(),
    url: text("url").notNull(),
    kind: text("kind").$type<"price" | "payee">().notNull(),
    before: text("before").notNull(),
    after: text("after").notNull(),
    at: integer("at").notNull(),
  },
  (table) => [
    index("probe_changes_by_host").on(table.host, table.n),
    index("probe_changes_by_time").on(table.at),
  ],
);
