import type { InvoiceView } from "../billing/invoice.ts";
import { ApiError } from "../contract/errors.ts";
import type { Store } from "../store/open.ts";

/** The body of `GET /v1/account/invoices`. */
export type InvoicePage = {
  readonly data: readonly InvoiceView[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

/** Issued invoices, newest first; the cursor is the id of the last one of the page before. */
export function invoicePage(
  store: Store,
  accountId: string,
  page: { readonly limit: number; readonly startingAfter: string | null },
): InvoicePage {
  const before = page.startingAfter === null ? null : store.invoices.find(accountId, page.startingAfter);
  if (before === undefined) {
    throw new ApiError("invalid_request", "starting_after must be the next_cursor of an earlier page.");
  }
  const rows = store.invoices.page(accountId, before?.periodStart ?? Number.MAX_SAFE_INTEGER, page.limit + 1);
  const shown = rows.slice(0, page.limit);
  const hasMore = rows.length > shown.length;
  return {
    data: shown.map(({ body }) => JSON.parse(body) as InvoiceView),
    has_more: hasMore,
    next_cursor: hasMore ? (shown.at(-1)?.invoiceId ?? null) : null,
  };
}
