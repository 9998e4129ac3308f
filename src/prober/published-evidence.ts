import { formatUsdFixed } from "../billing/money.ts";
import type { Measured, OwnMeasures } from "../directory/sync/own-measures.ts";
import type { Clock } from "../platform/clock.ts";
import type { ProbeReader } from "../store/probe-port.ts";
import { firstDay, medianMs, momentOf, probesOf, uptimeOf } from "./own-evidence.ts";

/** Counts that grow with every round are shown anew this often; a change of payee, price or reachability at once. */
const SHOWN_MS = 3_600_000;
/** A change of uptime that is shown at once. */
const UPTIME_STEP = 0.01;

type Shown = { readonly measured: Measured; readonly at: number };

/**
 * The prober's evidence as it stands in the listings. Each change of a listing is one in the change feed, so a listing
 * is not changed for every probe. Holds one entry for each probed host.
 */
export function createPublishedEvidence(
  openReader: () => ProbeReader | null,
  clock: Clock,
): OwnMeasures & Disposable {
  const shown = new Map<string, Shown>();
  let reader: ProbeReader | null = null;
  let seenUpTo = 0;

  function renewOne(of: ProbeReader, host: string, now: number): boolean {
    const measured = measuredOf(of, host, now);
    const before = shown.get(host);
    if (measured === null) return false;
    if (before !== undefined && now - before.at < SHOWN_MS && !isNews(before.measured, measured))
      return false;
    shown.set(host, { measured, at: now });
    return true;
  }

  return {
    renew() {
      reader ??= openReader();
      if (reader === null) return [];
      const open = reader;
      const now = clock.now();
      const probed = open.probedAfter(seenUpTo);
      // Probes of the same moment may be written later: they are looked at again.
      seenUpTo = probed.reduce((last, { probedAt }) => Math.max(last, probedAt - 1), seenUpTo);
      return probed.map(({ host }) => host).filter((host) => renewOne(open, host, now));
    },
    of: (host) => shown.get(host)?.measured ?? null,
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  };
}

/** Null where no probe says anything of the host: all were refused. */
function measuredOf(reader: ProbeReader, host: string, now: number): Measured | null {
  const days = reader.daysOf(host, firstDay(now));
  const probes = days.reduce((sum, day) => sum + probesOf(day), 0);
  if (probes === 0) return null;
  const resources = reader.resourcesOf(host);
  const changes = resources.flatMap(({ payToChangedAt }) => payToChangedAt ?? []);
  const prices = new Set(resources.flatMap(({ priceMicroUsd }) => priceMicroUsd ?? []));
  const [price = null] = prices.size === 1 ? prices : [];
  return {
    uptime_30d: uptimeOf(days),
    probes_30d: probes,
    median_latency_ms: medianMs(days),
    pay_to_changed_at: momentOf(changes.length === 0 ? null : Math.max(...changes)),
    price_usd: price === null ? null : formatUsdFixed(price, 6),
  };
}

function isNews(before: Measured, after: Measured): boolean {
  if (before.pay_to_changed_at !== after.pay_to_changed_at || before.price_usd !== after.price_usd)
    return true;
  return Math.abs((before.uptime_30d ?? 0) - (after.uptime_30d ?? 0)) >= UPTIME_STEP;
}
