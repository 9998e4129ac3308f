import { formatUsdFixed } from "../billing/money.ts";
import { readListing } from "../directory/listing-reader.ts";
import { listedMicroUsd } from "../payments/tokens.ts";
import type { JsonObject } from "../platform/json-value.ts";
import { amountOf, challengePerResource } from "./challenge.ts";
import { type Evidence, written } from "./evidence.ts";
import type { Scored } from "./score.ts";

/** The directory's listing of a scanned host. */
export type ScannedListing = {
  readonly host: string;
  readonly service_name: string | null;
  readonly description: string;
  readonly endpoints: number;
  readonly score: number;
  readonly evidence: {
    readonly pay_to: string;
    readonly uptime_30d: null;
    readonly probes_30d: number;
    readonly median_latency_ms: number | null;
    readonly payers_30d: number;
    readonly settlements_30d: number;
    readonly last_paid: null;
    readonly price_usd: string | null;
  };
  readonly resources: readonly {
    readonly url: string;
    readonly score: number;
    readonly price_usd: string | null;
  }[];
  readonly judged_by: string;
};

/** A resource that asks to be paid. */
type PaidResource = { readonly url: string; readonly payTo: string; readonly price_usd: string | null };

/**
 * Returns the listing of a scanned host; null where none of its resources names a payee over https. `judgeUrl` is the server
 * whose judging check the listing links to. What the directory would quarantine is left out, such as a payee that is no
 * address: the target may make it as long as it likes, and it would be stored and read again with every later scan.
 */
export function scannedListing(
  evidence: Evidence,
  { score }: Scored,
  judgeUrl: string,
): ScannedListing | null {
  const listingOf = (first: PaidResource, resources: readonly PaidResource[]): ScannedListing => {
    const prices = new Set(resources.map(({ price_usd }) => price_usd));
    return {
      host: new URL(evidence.origin).hostname,
      service_name: null,
      description: "",
      endpoints: resources.length,
      score,
      evidence: {
        pay_to: first.payTo,
        uptime_30d: null,
        probes_30d: 0,
        median_latency_ms: medianMs(evidence),
        payers_30d: 0,
        settlements_30d: 0,
        last_paid: null,
        price_usd: prices.size === 1 ? first.price_usd : null,
      },
      resources: resources.map(({ url, price_usd }) => ({ url, score, price_usd })),
      judged_by: `${judgeUrl}/v1/check?resource=${encodeURIComponent(first.url)}`,
    };
  };
  const isAccepted = (one: PaidResource) => readListing(listingOf(one, [one]), evidence.scannedAt).ok;
  const resources = paidResources(evidence).filter(isAccepted);
  const [first] = resources;
  return first === undefined ? null : listingOf(first, resources);
}

function paidResources(evidence: Evidence): readonly PaidResource[] {
  return challengePerResource(evidence).flatMap(({ exchange: { url }, accepts, version }) => {
    const [way] = accepts;
    if (way === undefined || typeof way.payTo !== "string") return [];
    return [{ url, payTo: way.payTo, price_usd: usdOf(way, amountOf(way, version)) }];
  });
}

/**
 * Returns the host whose listing a scan updates; null for an origin that listings do not cover, such as plain http: its scan
 * must not remove the listing that came from another one. Of a host, that is https on its usual port, or on any port in an
 * operator's own network.
 */
export function listedHost(
  { origin }: Pick<Evidence, "origin">,
  { anyPort }: { readonly anyPort: boolean },
): string | null {
  const { protocol, hostname, port } = new URL(origin);
  return protocol === "https:" && (port === "" || anyPort) ? hostname : null;
}

/** Returns the price of a way to pay. */
function usdOf(entry: JsonObject, amount: unknown): string | null {
  if (typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) return null;
  const [network, asset] = [written(entry.network), written(entry.asset)];
  const microUsd = listedMicroUsd({ network, asset, units: BigInt(amount) });
  return microUsd === null ? null : formatUsdFixed(microUsd, 6);
}

function medianMs({ exchanges }: Evidence): number | null {
  const times = exchanges.flatMap(({ ms }) => ms ?? []).sort((first, second) => first - second);
  return times[Math.floor(times.length / 2)] ?? null;
}
