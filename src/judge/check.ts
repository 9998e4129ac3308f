import type { ListingBody } from "../contract/directory-schemas.ts";
import type { CheckFacts, CheckView, Observed } from "../contract/specification/directory/check.ts";
import type { View } from "../directory/directory-health.ts";
import { uncheckedPayeeKey } from "../directory/payee.ts";
import { countOfPayee, findHost, listingAt } from "../directory/snapshot/snapshot.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import { JUDGE_RULES_VERSION, judge } from "./judgement.ts";
import { type CheckText, createKeptJudgements, type KeptJudgements, TAG_LENGTH } from "./kept-judgements.ts";

/** The evidence of this server's own prober on a resource. */
export type OwnEvidence = {
  readonly uptime_30d: number | null;
  readonly probes_30d: number;
  readonly median_latency_ms: number | null;
  readonly observed: Observed | null;
  readonly observed_usd: string | null;
  readonly payee_first_seen: string | null;
  readonly payee_changed_at: string | null;
};

/** Returns the prober's evidence on a resource, by its URL as listed; null where it has not probed it. */
export type FindOwnEvidence = (listedUrl: string) => OwnEvidence | null;

export type Check = {
  /** Returns the cached answer to a call with exactly this URL; null without a valid one. */
  readonly recall: (view: View, asked: string) => CheckText | null;
  /** Judges a resource, and keeps the answer for calls of this address. */
  readonly judge: (view: View, asked: string, resource: URL) => CheckText;
  /** Invalidates the cached judgement of a resource that was probed, by its URL as listed. */
  readonly probed: (listedUrl: string) => void;
};

/** The TTL of a judgement, which contains its own time, even if nothing else has changed. */
const HELD_MS = 300_000;
/** At about 1.7 KB each: a hundred thousand. */
const LISTED = { bytesMax: 170 * 1024 * 1024, callsMax: 131_071, heldMs: HELD_MS };
/** Apart, so that calls for made-up resources evict no listed one. */
const UNLISTED = { bytesMax: 2 * 1024 * 1024, callsMax: 2000, heldMs: HELD_MS };
/** Of one host and those above it, at up to 64 KB each: more would hold up other calls. */
const LISTINGS_LOOKED_AT_MAX = 8;

export function createCheck(dependencies: {
  readonly signingKey: Pick<SigningKey, "sign">;
  readonly ownEvidence: FindOwnEvidence;
  readonly monotonic: () => number;
}): Check {
  const { signingKey, ownEvidence, monotonic } = dependencies;
  const listed = createKeptJudgements(LISTED);
  const unlisted = createKeptJudgements(UNLISTED);
  /** The digest of the snapshot that all cached judgements are based on. */
  let digest = "";
  let isStale = false;

  /** Drops the cache where the directory has changed. */
  function turnTo({ snapshot, stale }: View): void {
    if (snapshot.digest === digest && stale === isStale) return;
    digest = snapshot.digest;
    isStale = stale;
    listed.clear();
    unlisted.clear();
  }

  function make(view: View, resource: URL): { readonly kept: KeptJudgements; readonly judgement: CheckText } {
    const facts = factsOf(view, resource, ownEvidence);
    const unsigned = { ...facts, ...judge(facts), rules_version: JUDGE_RULES_VERSION };
    const checked: CheckView = { ...unsigned, signature: signingKey.sign(unsigned) };
    const text = JSON.stringify(checked);
    return { kept: facts.pay_to.address === null ? unlisted : listed, judgement: { text, tag: tagOf(text) } };
  }

  return {
    recall(view, asked) {
      turnTo(view);
      const nowMs = monotonic();
      return listed.ofCall(asked, nowMs) ?? unlisted.ofCall(asked, nowMs);
    },
    judge(view, asked, resource) {
      turnTo(view);
      const nowMs = monotonic();
      for (const kept of [listed, unlisted]) {
        const known = kept.ofResource(resource.href, nowMs);
        if (known === null) continue;
        kept.name(asked, resource.href);
        return known;
      }
      const { kept, judgement } = make(view, resource);
      kept.keep(resource.href, asked, judgement, nowMs);
      return judgement;
    },
    probed(listedUrl) {
      const href = askedHref(listedUrl) ?? listedUrl;
      listed.forget(href);
      unlisted.forget(href);
    },
  };
}

/** A hash of 64 bits has at most 13 digits of base 36. */
function tagOf(text: string): string {
  return `"${Bun.hash(text)
    .toString(36)
    .padStart(TAG_LENGTH - 2, "0")}"`;
}

function factsOf(view: View, resource: URL, ownEvidence: FindOwnEvidence): CheckFacts {
  const found = findListed(view, resource);
  const base = {
    resource: resource.href,
    host: resource.hostname,
    as_of: new Date(view.syncedAt).toISOString(),
    stale: view.stale,
  };
  if (found === null) return { ...base, ...NOTHING_KNOWN };
  const { listed, evidence } = found;
  // The prober calls a resource as it is listed, in whatever spelling, and keeps what it sees by that.
  const own = ownEvidence(listed.url);
  const listedUsd = listed.price_usd ?? evidence.price_usd;
  const observedUsd = own?.observed_usd ?? null;
  const hasOwn = own !== null && own.probes_30d > 0;
  const measured = hasOwn ? own : evidence;
  return {
    ...base,
    pay_to: {
      address: evidence.pay_to,
      first_seen: own?.payee_first_seen ?? null,
      changed_at: laterOf(own?.payee_changed_at ?? null, evidence.pay_to_changed_at),
      // What is listed has a right checksum already.
      shared_hosts: Math.max(0, countOfPayee(view.snapshot, uncheckedPayeeKey(evidence.pay_to)) - 1),
    },
    price: { listed_usd: listedUsd, observed_usd: observedUsd, drift: driftOf(listedUsd, observedUsd) },
    uptime_30d: measured.uptime_30d,
    probes_30d: measured.probes_30d,
    median_latency_ms: measured.median_latency_ms,
    observed: own?.observed ?? null,
  };
}

const NOTHING_KNOWN = {
  pay_to: { address: null, first_seen: null, changed_at: null, shared_hosts: 0 },
  price: { listed_usd: null, observed_usd: null, drift: null },
  uptime_30d: null,
  probes_30d: 0,
  median_latency_ms: null,
  observed: null,
};

type Listed = Pick<ListingBody, "evidence"> & { readonly listed: ListingBody["resources"][number] };

/**
 * Returns a resource with the listing that contains it: that of its host, or of the nearest host above, as a listing may
 * contain resources of the hosts below its own. Null where it is not listed.
 */
function findListed({ snapshot }: View, { hostname, href }: URL): Listed | null {
  const labels = hostname.split(".");
  let looked = 0;
  for (let from = 0; from < labels.length - 1 && looked < LISTINGS_LOOKED_AT_MAX; from++) {
    const row = findHost(snapshot, labels.slice(from).join("."));
    if (row < 0) continue;
    looked += 1;
    const { evidence, resources } = listingAt(snapshot, row);
    const listed = resources.find(({ url }) => askedHref(url) === href);
    if (listed !== undefined) return { evidence, listed };
  }
  return null;
}

/** Returns a URL in the one spelling that calls are judged by: normalised, and without the fragment, which no request carries. */
function askedHref(url: string): string | undefined {
  return URL.parse(url)?.href.split("#", 1)[0];
}

/** A change that this server saw long ago hides none that the directory knows of. */
function laterOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return Date.parse(one) < Date.parse(other) ? other : one;
}

function driftOf(listedUsd: string | null, observedUsd: string | null): number | null {
  if (listedUsd === null || observedUsd === null || Number(listedUsd) === 0) return null;
  return Math.round((Number(observedUsd) / Number(listedUsd) - 1) * 10_000) / 10_000;
}
