import { formatUsdFixed } from "../billing/money.ts";
import type { Accepted } from "../contract/specification/directory/check.ts";
import type { OwnEvidence } from "../judge/check.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS, dayOf } from "../platform/days.ts";
import { LATENCY_BOUNDS_MS, type ProbeDay, type ProbeStore } from "../store/probe-port.ts";

/** Thirty days, today included. */
const DAYS_KEPT = 30;

/** Returns what the prober knows of a resource; null where it was not probed within 30 days. */
export function createOwnEvidence(store: ProbeStore, clock: Clock): (resource: string) => OwnEvidence | null {
  return (resource) => {
    const found = store.find(resource);
    if (found === undefined) return null;
    const days = store.days(resource, firstDay(clock.now()));
    const { probedAt, method, status, ms, accepts, priceMicroUsd } = found;
    return {
      uptime_30d: uptimeOf(days),
      probes_30d: days.reduce((sum, day) => sum + probesOf(day), 0),
      median_latency_ms: medianMs(days),
      observed: {
        probed_at: momentOf(probedAt) ?? "",
        method,
        status,
        ms,
        accepts: JSON.parse(accepts) as Accepted[],
      },
      observed_usd: priceMicroUsd === null ? null : formatUsdFixed(priceMicroUsd, 6),
      payee_first_seen: momentOf(found.payToFirstSeen),
      payee_changed_at: momentOf(found.payToChangedAt),
    };
  };
}

/** Returns the first of the 30 days that end today. */
export function firstDay(now: number): string {
  return dayOf(now - (DAYS_KEPT - 1) * DAY_MS);
}

type Counts = Omit<ProbeDay, "latencies">;

/** Refusals of our calls say nothing of the resource: they count neither for it nor against it. */
export function uptimeOf(days: readonly Counts[]): number | null {
  const up = days.reduce((sum, { paid, paymentBroken }) => sum + paid + paymentBroken, 0);
  const down = days.reduce((sum, day) => sum + day.down, 0);
  return up + down === 0 ? null : Math.round((up / (up + down)) * 10_000) / 10_000;
}

/** The probes that say something of the resource. */
export function probesOf({ paid, down, paymentBroken }: Counts): number {
  return paid + down + paymentBroken;
}

export function momentOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Returns the upper bound of the count that holds the median. */
export function medianMs(days: readonly ProbeDay[]): number | null {
  const counts = Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, n) =>
    days.reduce((sum, { latencies }) => sum + (latencies[n] ?? 0), 0),
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  const at = counts.findIndex((count) => {
    seen += count;
    return seen * 2 >= total;
  });
  return LATENCY_BOUNDS_MS[at] ?? 2 * (LATENCY_BOUNDS_MS.at(-1) ?? 0);
}
