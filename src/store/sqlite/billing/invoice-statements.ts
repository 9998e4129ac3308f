import { and, desc, eq, lt } from "drizzle-orm";
import type { InvoiceRecord } from "../../account-records.ts";
import type { Orm } from "../connection/orm.ts";
import { invoices } from "../schema.ts";

export type InvoiceStatements = ReturnType<typeof createInvoiceStatements>;

/** Issued invoices. They are written once; the database refuses to change them. */
export function createInvoiceStatements(orm: Orm) {
  return {
    /** False where the month has its invoice. */
    insert: (row: InvoiceRecord): boolean =>
      orm
        .insert(invoices)
        .values(row)
        .onConflictDoNothing({ target: [invoices.accountId, invoices.periodStart] })
        .returning({ invoiceId: invoices.invoiceId })
        .all().length > 0,

    find: (accountId: string, invoiceId: string): InvoiceRecord | undefined =>
      orm
        .select()
        .from(invoices)
        .where(and(eq(invoices.accountId, accountId), eq(invoices.invoiceId, invoiceId)))
        .get(),

    /** Invoices of periods that began before `before`, newest first. */
    page: (accountId: string, before: number, limit: number): InvoiceRecord[] =>
      orm
        .select()
        .from(invoices)
        .where(and(eq(invoices.accountId, accountId), lt(invoices.periodStart, before)))
        .orderBy(desc(invoices.periodStart))
        .limit(limit)
        .all(),
  };
}
