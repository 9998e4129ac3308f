import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { Facts } from "../parts/facts.tsx";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, exactMoneyOf, percentOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Listing } from "../wire/bodies.ts";
import {
  type ChangeHistory,
  changesOf,
  FEED_CHANGES_MAX,
  type ListingChange,
} from "../wire/listing-changes.ts";
import { ListingVerdict } from "./listing-verdict.tsx";

/** One service: its evidence, its resources, how price and payee changed. */
export function ListingView({ id }: { readonly id: string }) {
  const { api } = useConsole();
  const loaded = useLoad(
    (signal) => api.read<Listing>(`/v1/directory/${encodeURIComponent(id)}`, signal),
    [id],
  );
  return (
    <>
      <p class="crumb">
        <a href={hrefOf("directory")}>Directory</a>
      </p>
      <Await of={loaded} lines={8} title="Service">
        {(listing) => <Details listing={listing} />}
      </Await>
    </>
  );
}

function Details({ listing }: { readonly listing: Listing }) {
  const { host, service_name, description, evidence, resources, score } = listing;
  return (
    <>
      <div class="view-head">
        <div>
          <h1>{visible(service_name ?? host)}</h1>
          <p class="muted">{host}</p>
        </div>
        <Badge word={`Score ${countOf(score)}`} tone="accent" />
      </div>
      <div class="stack">
        {evidence.pay_to_changed_at === null ? null : (
          <Notice kind="warn">
            <span>
              The payee changed on <Moment at={evidence.pay_to_changed_at} />. Make sure of it before you pay.
            </span>
          </Notice>
        )}
        {description === "" ? null : <p class="description">{visible(description)}</p>}
        <div class="halves">
          <EvidenceCard evidence={evidence} />
          <ListingVerdict listing={listing} />
        </div>
        <ResourcesCard resources={resources} />
        <HistoryCard host={host} />
      </div>
    </>
  );
}

function EvidenceCard({ evidence }: { readonly evidence: Listing["evidence"] }) {
  const { price_usd, uptime_30d, median_latency_ms } = evidence;
  return (
    <Card title="Evidence">
      <Facts
        facts={[
          ["Payee", <code key="payee">{evidence.pay_to}</code>],
          ["Price", price_usd === null ? null : exactMoneyOf(price_usd)],
          ["Uptime, 30 days", uptime_30d === null ? null : percentOf(uptime_30d)],
          ["Probes, 30 days", countOf(evidence.probes_30d)],
          ["Median latency", median_latency_ms === null ? null : `${countOf(median_latency_ms)} ms`],
          ["Payers, 30 days", countOf(evidence.payers_30d)],
          ["Payments, 30 days", countOf(evidence.settlements_30d)],
          ["Last paid", <Moment key="paid" at={evidence.last_paid} />],
        ]}
      />
    </Card>
  );
}

function ResourcesCard({ resources }: Pick<Listing, "resources">) {
  return (
    <Card title="Resources">
      <Table
        caption="Resources"
        columns={[
          { head: "URL", cell: ({ url }: Listing["resources"][number]) => <code>{url}</code> },
          { head: "Score", cell: (resource) => countOf(resource.score), isNumber: true },
          {
            head: "Price",
            cell: ({ price_usd }) => (price_usd === null ? "–" : exactMoneyOf(price_usd)),
            isNumber: true,
          },
        ]}
        rows={resources}
        keyOf={({ url }) => url}
        empty={<p>No resources are listed.</p>}
      />
    </Card>
  );
}

function HistoryCard({ host }: { readonly host: string }) {
  const { api } = useConsole();
  const history = useLoad((signal) => changesOf(api, host, signal), [host]);
  return (
    <Card title="Price and payee history">
      <Await of={history}>
        {({ changes, end }) =>
          end === "gone" ? (
            <p class="empty">The history cannot be read here: the server no longer keeps its beginning.</p>
          ) : (
            <>
              <ChangeTable changes={changes} end={end} />
              {end === "whole" ? null : (
                <p class="muted">
                  {end === "cut"
                    ? `Later changes were not read: at most ${countOf(FEED_CHANGES_MAX)} changes of all services are.`
                    : "Later changes were not read: the server removed what came next meanwhile."}
                </p>
              )}
            </>
          )
        }
      </Await>
    </Card>
  );
}

function ChangeTable({ changes, end }: ChangeHistory) {
  return (
    <Table
      caption="Price and payee, newest first"
      columns={[
        { head: "Date", cell: ({ at }: Marked) => <Moment at={at} /> },
        {
          head: "Price",
          cell: ({ listing }) =>
            listing === null || listing.evidence.price_usd === null
              ? "–"
              : exactMoneyOf(listing.evidence.price_usd),
          isNumber: true,
        },
        {
          head: "Payee",
          cell: ({ listing, isPayeeNew }) => (
            <span>
              {listing === null ? "Delisted" : <code>{listing.evidence.pay_to}</code>}{" "}
              {isPayeeNew ? <Badge word="changed" tone="warn" /> : null}
            </span>
          ),
        },
      ]}
      rows={marked(changes)}
      keyOf={({ at, place }) => `${at} ${place}`}
      empty={<p>No change of this service is {end === "whole" ? "on record" : "among those read"}.</p>}
    />
  );
}

type Marked = ListingChange & { readonly place: number; readonly isPayeeNew: boolean };

/** Newest first; a payee that differs from the one before is marked. */
function marked(changes: readonly ListingChange[]): readonly Marked[] {
  return changes.map((change, place) => {
    const before = changes.slice(place + 1).find(({ listing }) => listing !== null)?.listing;
    const payee = change.listing?.evidence.pay_to;
    const isPayeeNew = payee !== undefined && before != null && before.evidence.pay_to !== payee;
    return { ...change, place, isPayeeNew };
  });
}
