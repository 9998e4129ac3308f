import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { usePaging } from "../state/use-paging.ts";
import { exactMoneyOf, monthOf, wordsOf } from "../text/format.ts";
import type { Invoice, InvoicePage } from "../wire/bodies.ts";

/** Issued invoices, newest first. */
export function InvoiceHistory() {
  const { api } = useConsole();
  const paging = usePaging();
  const { cursor } = paging;
  const query = cursor === undefined ? "limit=12" : `limit=12&starting_after=${encodeURIComponent(cursor)}`;
  const page = useLoad((signal) => api.read<InvoicePage>(`/v1/account/invoices?${query}`, signal), [query]);
  return (
    <Card title="Invoices">
      <Await of={page}>
        {({ data, has_more, next_cursor }) => (
          <>
            <Table
              caption="Invoices"
              columns={[
                {
                  head: "Month",
                  cell: ({ invoice_id, period_start }: Invoice) => (
                    <a class="name" href={hrefOf("plan", invoice_id)}>
                      {monthOf(period_start)}
                    </a>
                  ),
                },
                { head: "Plan", cell: ({ plan }) => wordsOf(plan) },
                { head: "Total", cell: ({ total_usd }) => exactMoneyOf(total_usd), isNumber: true },
              ]}
              rows={data}
              keyOf={({ invoice_id }) => invoice_id}
              empty={<p>No invoice yet: the first one is issued when this month has ended.</p>}
            />
            <Pager paging={paging} next={has_more ? next_cursor : null} />
          </>
        )}
      </Await>
    </Card>
  );
}
