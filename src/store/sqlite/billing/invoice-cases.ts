import type { AtOnce } from "../../../platform/answer.ts";
import type { InvoicePort } from "../../billing-port.ts";
import type { Transact } from "../connection/connection.ts";
import { type EventStatements, emit } from "../webhooks/webhook-cases.ts";
import type { InvoiceStatements } from "./invoice-statements.ts";
import type { PlanPeriodStatements } from "./plan-period-statements.ts";

type Statements = EventStatements & {
  readonly planPeriods: PlanPeriodStatements;
  readonly invoices: InvoiceStatements;
};

/** Months that are over and the invoices of them. */
export function createInvoiceCases(
  { planPeriods, invoices, webhooks, deliveries }: Statements,
  transact: Transact,
): AtOnce<InvoicePort> {
  return {
    planPeriodsToInvoice: planPeriods.uninvoicedDue,

    issueInvoices: (months, invoiceOf) =>
      transact(() => {
        let issued = 0;
        for (const month of months) {
          const { accountId, periodStart } = month;
          const made = invoiceOf(month, planPeriods.ofMonth(accountId, periodStart));
          if (made === null || !invoices.insert(made.invoice)) continue;
          planPeriods.markInvoiced(accountId, periodStart, made.invoice.invoiceId);
          emit({ webhooks, deliveries }, accountId, made.event);
          issued += 1;
        }
        return issued;
      }),

    invoicePage: (accountId, afterInvoiceId, limit) => {
      const after = afterInvoiceId === null ? null : invoices.find(accountId, afterInvoiceId);
      if (after === undefined) return null;
      return invoices.page(accountId, after?.periodStart ?? Number.MAX_SAFE_INTEGER, limit);
    },
  };
}
