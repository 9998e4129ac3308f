import type { Evidence, Listing } from "../listing.ts";

/** What this server has measured of a host by itself; null leaves what the source says. */
export type Measured = Pick<Evidence, "uptime_30d" | "probes_30d" | "median_latency_ms" | "price_usd"> & {
  readonly pay_to_changed_at: string | null;
};

export type OwnMeasures = {
  /** Returns the hosts whose measures are others than at the last time, or are shown anew. */
  readonly renew: () => readonly string[];
  /** Returns what is shown of a host until it is renewed; null where nothing was measured. */
  readonly of: (host: string) => Measured | null;
};

/** Puts what this server knows better than the source into a listing. */
export type Complete = (listing: Listing) => Listing;

/** Creates what completes listings: with what this server measured, and the judging check at `judgeUrl`. */
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
