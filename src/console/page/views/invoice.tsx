import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { monthOf, periodOf, wordsOf } from "../text/format.ts";
import type { Api } from "../wire/api.ts";
import type { Account, Invoice, InvoicePage } from "../wire/bodies.ts";
import { InvoiceLines } from "./invoice-lines.tsx";

const PAGES_MAX = 20;

/** One invoice, as it is printed. */
export function InvoiceView({ id }: { readonly id: string }) {
  const { api } = useConsole();
  const loaded = useLoad(async (signal) => {
    const account = await api.read<Account>("/v1/account", signal);
    return { account, invoice: await findInvoice(api, id, signal) };
  });
  return (
    <>
      <p class="crumb">
        <a href={hrefOf("plan")}>Plan and invoices</a>
      </p>
      <Await of={loaded} lines={8} title="Invoice">
        {({ account, invoice }) =>
          invoice === null ? (
            <>
              <div class="view-head">
                <h1>Invoice</h1>
              </div>
              <p class="empty">There is no such invoice.</p>
            </>
          ) : (
            <article class="card invoice">
              <div class="view-head">
                <div>
                  <h1>Invoice for {monthOf(invoice.period_start)}</h1>
                  <p class="muted">
                    Assay, <code>{invoice.invoice_id}</code>
                  </p>
                </div>
                <div class="row">
                  <Badge word={invoice.status} />
                  <Button onPress={() => window.print()}>Print</Button>
                </div>
              </div>
              <Facts
                isWide
                facts={[
                  ["Billed to", [account.company, account.name, account.email].filter(Boolean).join(", ")],
                  ["Account", <code key="account">{account.account_id}</code>],
                  ["Period (UTC)", periodOf(invoice.period_start, invoice.period_end)],
                  ["Plan", wordsOf(invoice.plan)],
                ]}
              />
              <InvoiceLines invoice={invoice} />
            </article>
          )
        }
      </Await>
    </>
  );
}

async function findInvoice(api: Api, id: string, signal: AbortSignal): Promise<Invoice | null> {
  let query = "limit=100";
  for (let page = 0; page < PAGES_MAX; page++) {
    const { data, next_cursor } = await api.read<InvoicePage>(`/v1/account/invoices?${query}`, signal);
    const found = data.find(({ invoice_id }) => invoice_id === id);
    if (found !== undefined) return found;
    if (next_cursor === null) return null;
    query = `limit=100&starting_after=${encodeURIComponent(next_cursor)}`;
  }
  return null;
}
