import type { InvoiceView } from "../billing/invoice.ts";
import { cursorPage } from "../contract/cursor-page.ts";
import { ApiError } from "../contract/errors.ts";
import type { InvoicePageBody } from "../contract/specification/accounts/account-replies.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { InvoicePort } from "../store/billing-port.ts";

/** The body of `GET /v1/account/invoices`. */
export type InvoicePage = InvoicePageBody;

/** Returns issued invoices, newest first; the cursor is the id of the last one of the page before. */
export function invoicePage(
  store: Pick<InvoicePort, "invoicePage">,
  accountId: string,
  page: { readonly limit: number; readonly startingAfter: string | null },
): Answer<InvoicePage> {
  return after(store.invoicePage(accountId, page.startingAfter, page.limit + 1), (rows) => {
    if (rows === null) {
      throw new ApiError("invalid_request", "starting_after must be the next_cursor of an earlier page.");
    }
    return cursorPage(rows, page.limit, {
      view: ({ body }) => JSON.parse(body) as InvoiceView,
      idOf: ({ invoiceId }) => invoiceId,
    });
  });
}
