import { formatUsdFixed } from "../billing/money.ts";
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

/**
 * Returns the listing of a scanned host; null where none of its resources names a payee over https. `judgeUrl` is the server
 * whose judging check the listing links to.
 */
export function scannedListing(
  evidence: Evidence,
  { score }: Scored,
  judgeUrl: string,
): ScannedListing | null {
  const { hostname: host } = new URL(evidence.origin);
  const seen = challengePerResource(evidence).flatMap(({ exchange: { url }, accepts, version }) => {
    const [first] = accepts;
    const isListed = url.startsWith("https:") && typeof first?.payTo === "string";
    return isListed
      ? [{ url, payTo: first.payTo as string, price_usd: usdOf(first, amountOf(first, version)) }]
      : [];
  });
  const [first] = seen;
  if (first === undefined) return null;
  const prices = new Set(seen.map(({ price_usd }) => price_usd));
  return {
    host,
    service_name: null,
    description: "",
    endpoints: seen.length,
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
    resources: seen.map(({ url, price_usd }) => ({ url, score, price_usd })),
    judged_by: `${judgeUrl}/v1/check?resource=${encodeURIComponent(first.url)}`,
  };
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
