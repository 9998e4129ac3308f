import { and, desc, eq, lt } from "drizzle-orm";
import type { Orm } from "./orm.ts";
import { invoices } from "./schema.ts";

export type InvoiceRow = typeof invoices.$inferSelect;

export type InvoiceStore = ReturnType<typeof createInvoiceStore>;

/** Issued invoices. They are written once; the database refuses to change them. */
export function createInvoiceStore(orm: Orm) {
  return {
    insert: (row: InvoiceRow): void => {
      orm.insert(invoices).values(row).run();
    },

    find: (accountId: string, invoiceId: string): InvoiceRow | undefined =>
      orm
        .select()
        .from(invoices)
        .where(and(eq(invoices.accountId, accountId), eq(invoices.invoiceId, invoiceId)))
        .get(),

    /** Invoices of periods that began before `before`, newest first. */
    page: (accountId: string, before: number, limit: number): InvoiceRow[] =>
      orm
        .select()
        .from(invoices)
        .where(and(eq(invoices.accountId, accountId), lt(invoices.periodStart, before)))
        .orderBy(desc(invoices.periodStart))
        .limit(limit)
        .all(),
  };
}
