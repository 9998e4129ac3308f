import type { ListingBody } from "../contract/directory-schemas.ts";
import type { CheckFacts, CheckView, Observed } from "../contract/specification/check.ts";
import type { View } from "../directory/directory-health.ts";
import { findMatches } from "../directory/snapshot/matches.ts";
import { queryOf } from "../directory/snapshot/query.ts";
import { findHost, rowBytes } from "../directory/snapshot/snapshot.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import { JUDGE_RULES_VERSION, judge } from "./judgement.ts";

/** What this server has seen of a resource by itself. */
export type OwnEvidence = {
  readonly uptime_30d: number | null;
  readonly probes_30d: number;
  readonly median_latency_ms: number | null;
  readonly observed: Observed | null;
  readonly observed_usd: string | null;
  readonly payee_first_seen: string | null;
  readonly payee_changed_at: string | null;
};

/** Returns what the prober knows of a resource; null where it has not probed it. */
export type FindOwnEvidence = (resource: string) => OwnEvidence | null;

/** A check as it is answered. */
export type CheckText = { readonly text: string; readonly etag: string };

/** Returns the check of a resource, from memory where it was asked shortly before. */
export type CheckResource = (view: View, resource: URL) => CheckText;

const VALID_MS = 60_000;
/** At about 1.5 KB each. */
const KEPT_MAX = 20_000;

export function createCheck(dependencies: {
  readonly signingKey: () => Pick<SigningKey, "sign">;
  readonly ownEvidence: FindOwnEvidence;
  readonly monotonic: () => number;
}): CheckResource {
  const { signingKey, ownEvidence, monotonic } = dependencies;
  /** By resource, the oldest first; each holds for a minute, and for the snapshot that it was made of. */
  const kept = new Map<string, CheckText & { readonly madeMs: number; readonly of: string }>();
  return (view, resource) => {
    const of = `${view.snapshot.digest} ${view.syncedAt} ${view.stale}`;
    const known = kept.get(resource.href);
    if (known !== undefined && known.of === of && monotonic() - known.madeMs < VALID_MS) return known;
    const facts = factsOf(view, resource, ownEvidence(resource.href));
    const unsigned = { ...facts, ...judge(facts), rules_version: JUDGE_RULES_VERSION };
    const checked: CheckView = { ...unsigned, signature: signingKey().sign(unsigned) };
    const text = JSON.stringify(checked);
    const made = { text, etag: `"${Bun.hash(text).toString(36)}"`, madeMs: monotonic(), of };
    kept.delete(resource.href);
    kept.set(resource.href, made);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX) break;
      kept.delete(oldest);
    }
    return made;
  };
}

function factsOf(view: View, resource: URL, own: OwnEvidence | null): CheckFacts {
  const listing = findListing(view, resource.hostname);
  const listed = listing?.resources.find(({ url }) => URL.parse(url)?.href === resource.href) ?? null;
  const base = {
    resource: resource.href,
    host: resource.hostname,
    as_of: new Date(view.syncedAt).toISOString(),
    stale: view.stale,
  };
  if (listing === null || listed === null) return { ...base, ...UNLISTED };
  const { evidence } = listing;
  const { total } = findMatches(view.snapshot, queryOf({ payee: evidence.pay_to }), 0, 1);
  const listedUsd = listed.price_usd ?? evidence.price_usd;
  const observedUsd = own?.observed_usd ?? null;
  const hasOwn = own !== null && own.probes_30d > 0;
  const measured = hasOwn ? own : evidence;
  return {
    ...base,
    pay_to: {
      address: evidence.pay_to,
      first_seen: own?.payee_first_seen ?? null,
      changed_at: own?.payee_changed_at ?? evidence.pay_to_changed_at,
      shared_hosts: Math.max(0, total - 1),
    },
    price: { listed_usd: listedUsd, observed_usd: observedUsd, drift: driftOf(listedUsd, observedUsd) },
    uptime_30d: measured.uptime_30d,
    probes_30d: measured.probes_30d,
    median_latency_ms: measured.median_latency_ms,
    observed: own?.observed ?? null,
  };
}

const UNLISTED = {
  pay_to: { address: null, first_seen: null, changed_at: null, shared_hosts: 0 },
  price: { listed_usd: null, observed_usd: null, drift: null },
  uptime_30d: null,
  probes_30d: 0,
  median_latency_ms: null,
  observed: null,
};

/** A listing of a host holds the resources of the hosts below it, too. */
function findListing({ snapshot }: View, hostname: string): ListingBody | null {
  const labels = hostname.split(".");
  for (let from = 0; from < labels.length - 1; from++) {
    const row = findHost(snapshot, labels.slice(from).join("."));
    if (row >= 0) return JSON.parse(new TextDecoder().decode(rowBytes(snapshot, row))) as ListingBody;
  }
  return null;
}

function driftOf(listedUsd: string | null, observedUsd: string | null): number | null {
  if (listedUsd === null || observedUsd === null || Number(listedUsd) === 0) return null;
  return Math.round((Number(observedUsd) / Number(listedUsd) - 1) * 10_000) / 10_000;
}
