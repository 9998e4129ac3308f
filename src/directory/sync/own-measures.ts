import type { Evidence, Listing } from "../listing.ts";

/** The measures of a host by this server. A null price or time of change leaves that of the source. */
export type Measured = Pick<Evidence, "uptime_30d" | "probes_30d" | "median_latency_ms" | "price_usd"> & {
  readonly pay_to_changed_at: string | null;
};

export type OwnMeasures = {
  /** Returns the hosts whose measures have changed enough to be published since the last call. */
  readonly renew: () => readonly string[];
  /** Returns the published measures of a host; null without any. */
  readonly of: (host: string) => Measured | null;
};

/** Sets the fields of a listing that this server measures itself. */
export type Complete = (listing: Listing) => Listing;

/** Creates a function that completes listings with this server's measures, and the judging check at `judgeUrl`. */
export function createCompletion(measures: OwnMeasures | null, judgeUrl: string | null): Complete {
  return (listing) => {
    const measured = measures?.of(listing.host) ?? null;
    const evidence = measured === null ? listing.evidence : measuredEvidence(listing.evidence, measured);
    const [first] = listing.resources;
    const isJudgedHere = judgeUrl !== null && first !== undefined;
    const judgedBy = isJudgedHere
      ? `${judgeUrl}/v1/check?resource=${encodeURIComponent(first.url)}`
      : listing.judged_by;
    return { ...listing, evidence, judged_by: judgedBy };
  };
}

function measuredEvidence(evidence: Evidence, measured: Measured): Evidence {
  return {
    ...evidence,
    uptime_30d: measured.uptime_30d,
    probes_30d: measured.probes_30d,
    median_latency_ms: measured.median_latency_ms,
    pay_to_changed_at: measured.pay_to_changed_at ?? evidence.pay_to_changed_at,
    price_usd: measured.price_usd ?? evidence.price_usd,
  };
}
