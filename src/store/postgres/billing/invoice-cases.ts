import { and, asc, desc, eq, gt, lt } from "drizzle-orm";
import type { InvoicePort } from "../../billing-port.ts";
import { isToInvoice } from "../../conditions.ts";
import { lockAccounts } from "../account-locks.ts";
import type { Connection } from "../connection/connection.ts";
import { invoices, planPeriods } from "../schema.ts";
import { emit } from "../webhooks/webhook-rows.ts";

/** Months that are over and the invoices of them. */
export function createInvoiceCases({ transact, read }: Connection): InvoicePort {
  return {
    planPeriodsToInvoice: (now, afterId, limit) =>
      read((orm) =>
        orm
          .select()
          .from(planPeriods)
          .where(and(isToInvoice(planPeriods, now), gt(planPeriods.planPeriodId, afterId)))
          .orderBy(asc(planPeriods.planPeriodId))
          .limit(limit),
      ),

    issueInvoices: (months, invoiceOf) =>
      transact(async (orm) => {
        await lockAccounts(
          orm,
          months.map(({ accountId }) => accountId),
        );
        let issued = 0;
        for (const month of months) {
          const ofMonth = and(
            eq(planPeriods.accountId, month.accountId),
            eq(planPeriods.periodStart, month.periodStart),
          );
          const rows = await orm
            .select()
            .from(planPeriods)
            .where(ofMonth)
            .orderBy(asc(planPeriods.planPeriodId));
          const made = invoiceOf(month, rows);
          if (made === null) continue;
          const { invoice } = made;
          const inserted = await orm
            .insert(invoices)
            .values(invoice)
            .onConflictDoNothing({ target: [invoices.accountId, invoices.periodStart] })
            .returning({ invoiceId: invoices.invoiceId });
          if (inserted.length === 0) continue;
          await orm.update(planPeriods).set({ invoiceId: invoice.invoiceId }).where(ofMonth);
          await emit(orm, month.accountId, made.event);
          issued += 1;
        }
        return issued;
      }),

    invoicePage: (accountId, afterInvoiceId, limit) =>
      read(async (orm) => {
        let before = Number.MAX_SAFE_INTEGER;
        if (afterInvoiceId !== null) {
          const [after] = await orm
            .select({ periodStart: invoices.periodStart })
            .from(invoices)
            .where(and(eq(invoices.accountId, accountId), eq(invoices.invoiceId, afterInvoiceId)));
          if (after === undefined) return null;
          before = after.periodStart;
        }
        return orm
          .select()
          .from(invoices)
          .where(and(eq(invoices.accountId, accountId), lt(invoices.periodStart, before)))
          .orderBy(desc(invoices.periodStart))
          .limit(limit);
      }),
  };
}
