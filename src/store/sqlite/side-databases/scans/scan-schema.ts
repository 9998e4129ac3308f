import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row a scan. Times are milliseconds since the epoch. */
export const reports = sqliteTable(
  "reports",
  {
    reportId: text("report_id").primaryKey(),
    origin: text("origin").notNull(),
    scannedAt: integer("scanned_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    report: text("report").notNull(),
    evidence: text("evidence").notNull(),
  },
  (table) => [
    index("reports_by_origin").on(table.origin, table.scannedAt),
    index("reports_by_time").on(table.scannedAt),
  ],
);

/** What the directory of scanned hosts lists. */
export const scannedHosts = sqliteTable("scanned_hosts", {
  host: text("host").primaryKey(),
  listing: text("listing").notNull(),
});
