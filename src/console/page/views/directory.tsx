import { useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { usePaging } from "../state/use-paging.ts";
import { countOf, exactMoneyOf, percentOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Listing, ListingPage } from "../wire/bodies.ts";
import { ALL_LISTINGS, DirectorySearch, queryOf } from "./directory-search.tsx";

/** Paid services, as they are in the snapshot of this server. */
export function DirectoryView() {
  const { api } = useConsole();
  const [searched, setSearched] = useState(ALL_LISTINGS);
  const paging = usePaging();
  const { cursor } = paging;
  const query = queryOf(searched, cursor);
  const page = useLoad((signal) => api.read<ListingPage>(`/v1/directory?${query}`, signal), [query]);
  return (
    <>
      <div class="view-head">
        <h1>Directory</h1>
        {page.state.status === "ready" ? <Freshness page={page.state.value} /> : null}
      </div>
      <Card title="Services">
        <DirectorySearch
          onSearch={(fields) => {
            paging.restart();
            setSearched(fields);
          }}
        />
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
