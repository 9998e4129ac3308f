import { Table } from "../parts/table.tsx";
import { countOf, exactMoneyOf, moneyOf, utcMomentOf } from "../text/format.ts";
import type { Invoice } from "../wire/bodies.ts";

/** A moment in the text of a line. An invoice says the same to everybody: its times stay in UTC. */
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

function withMoments(description: string): string {
  return description.replace(MOMENT, utcMomentOf);
}

type Line = Invoice["lines"][number];

/** The lines of an invoice and their sum. */
export function InvoiceLines({ invoice }: { readonly invoice: Invoice }) {
  const { lines, total_usd, projected_total_usd } = invoice;
  return (
    <>
      <Table
        caption="Lines"
        columns={[
          { head: "Description", cell: ({ description }: Line) => withMoments(description) },
          { head: "Quantity", cell: ({ quantity }) => countOf(quantity), isNumber: true },
          {
            head: "Unit price",
            cell: ({ unit_price_usd }) => exactMoneyOf(unit_price_usd),
            isNumber: true,
          },
          { head: "Amount", cell: ({ amount_usd }) => exactMoneyOf(amount_usd), isNumber: true },
        ]}
        rows={lines}
        keyOf={({ description }) => description}
        empty={<p>Nothing to pay for.</p>}
      />
      <p class="invoice-total">
        <span>Total</span> <b>{exactMoneyOf(total_usd)}</b>
      </p>
      {projected_total_usd === undefined ? null : (
        <p class="muted">
          {moneyOf(projected_total_usd)} by the end of the month, if units go on being used at this rate.
        </p>
      )}
    </>
  );
}
