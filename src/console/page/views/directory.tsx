import { useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { SORT_FIELDS, type SortField } from "../../../contract/words.ts";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { Choice } from "../parts/choice.tsx";
import { Form } from "../parts/form.tsx";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { usePaging } from "../state/use-paging.ts";
import { countOf, exactMoneyOf, percentOf, wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Listing, ListingPage } from "../wire/bodies.ts";

type Asked = {
  readonly q: string;
  readonly min_score: string;
  readonly max_price_usd: string;
  readonly min_uptime: string;
  readonly payee: string;
  readonly sort: SortField;
};

const ASKED: Asked = { q: "", min_score: "", max_price_usd: "", min_uptime: "", payee: "", sort: "score" };

/** Paid services, as the snapshot of this server has them. */
export function DirectoryView() {
  const { api } = useConsole();
  const [form, setForm] = useState(ASKED);
  const [asked, setAsked] = useState(ASKED);
  const paging = usePaging();
  const { cursor } = paging;
  const query = queryOf(asked, cursor);
  const page = useLoad((signal) => api.read<ListingPage>(`/v1/directory?${query}`, signal), [query]);
  const set = (part: Partial<Asked>) => setForm({ ...form, ...part });
  const text = (name: Exclude<keyof Asked, "sort">) => ({
    value: form[name],
    onValue: (value: string) => set({ [name]: value }),
  });
  return (
    <>
      <div class="view-head">
        <h1>Directory</h1>
        {page.state.status === "ready" ? <Freshness page={page.state.value} /> : null}
      </div>
      <Card title="Services">
        <search>
          <Form
            class="fields"
            onSubmit={() => {
              paging.restart();
              setAsked(form);
            }}
          >
            <TextField label="Search" type="search" {...text("q")} placeholder="weather" />
            <TextField label="Minimum score" type="number" min="0" max="100" {...text("min_score")} />
            <TextField
              label="Maximum price (USD)"
              inputMode="decimal"
              {...text("max_price_usd")}
              placeholder="0.05"
            />
            <TextField
              label="Minimum uptime (%)"
              type="number"
              min="0"
              max="100"
              step="any"
              {...text("min_uptime")}
            />
            <TextField label="Payee" {...text("payee")} placeholder="0x…" />
            <Choice
              label="Sort by"
              value={form.sort}
              options={SORT_FIELDS.map((field) => [field, wordsOf(field)] as const)}
              onValue={(sort) => set({ sort })}
            />
            <button type="submit" class="button primary align-end">
              Search
            </button>
          </Form>
        </search>
        <Await of={page} lines={8}>
          {({ listings, total, next_cursor }) => (
            <>
              <p class="muted" role="status">
                {countOf(total)} {nounOf(total, "service")}
              </p>
              <ListingTable listings={listings} />
              <Pager paging={paging} next={next_cursor} back="Back" on="More" />
            </>
          )}
        </Await>
      </Card>
    </>
  );
}

function Freshness({ page: { snapshot } }: { readonly page: ListingPage }) {
  if (snapshot.stale) {
    return (
      <Notice kind="warn">
        <span>
          The snapshot is old: last synced <Moment at={snapshot.synced_at} />.
        </span>
      </Notice>
    );
  }
  return (
    <p class="muted">
      Snapshot {countOf(snapshot.version)}, synced <Moment at={snapshot.synced_at} />
      {snapshot.quarantined === 0 ? "" : `, ${countOf(snapshot.quarantined)} in quarantine`}
    </p>
  );
}

function ListingTable({ listings }: { readonly listings: readonly Listing[] }) {
  return (
    <Table
      caption="Services found"
      columns={[
        {
          head: "Service",
          cell: ({ host, service_name, evidence }: Listing) => (
            <>
              <a class="name" href={hrefOf("directory", host)}>
                {visible(service_name ?? host)}
              </a>{" "}
              {evidence.pay_to_changed_at === null ? null : <Badge word="payee changed" tone="warn" />}
              <br />
              <small class="muted">{host}</small>
            </>
          ),
        },
        { head: "Score", cell: ({ score }) => countOf(score), isNumber: true },
        {
          head: "Price",
          cell: ({ evidence: { price_usd } }) => (price_usd === null ? "–" : exactMoneyOf(price_usd)),
          isNumber: true,
        },
        {
          head: "Uptime, 30 days",
          cell: ({ evidence: { uptime_30d } }) => (uptime_30d === null ? "–" : percentOf(uptime_30d)),
          isNumber: true,
        },
        {
          head: "Median latency",
          cell: ({ evidence: { median_latency_ms } }) =>
            median_latency_ms === null ? "–" : `${countOf(median_latency_ms)} ms`,
          isNumber: true,
        },
        { head: "Payers, 30 days", cell: ({ evidence }) => countOf(evidence.payers_30d), isNumber: true },
        { head: "Last paid", cell: ({ evidence }) => <Moment at={evidence.last_paid} /> },
      ]}
      rows={listings}
      keyOf={({ host }) => host}
      empty={<p>No service matches. Loosen a filter.</p>}
    />
  );
}

function queryOf({ min_uptime, ...asked }: Asked, cursor: string | undefined): string {
  const query = new URLSearchParams({ limit: "50" });
  if (cursor !== undefined) query.set("cursor", cursor);
  else {
    for (const [name, value] of Object.entries(asked)) if (value.trim() !== "") query.set(name, value.trim());
    if (min_uptime.trim() !== "") query.set("min_uptime", `${Number(min_uptime) / 100}`);
  }
  return `${query}`;
}
