import { formatUsdFixed } from "../billing/money.ts";
import type { Measured, OwnMeasures } from "../directory/sync/own-measures.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS } from "../platform/days.ts";
import type { ProbeReader } from "../store/probe-port.ts";
import { firstDay, medianMs, momentOf, probesOf, uptimeOf } from "./own-evidence.ts";

/** Counts that grow with every round are shown anew this often; a change of payee, price or reachability at once. */
const SHOWN_MS = 3_600_000;
/** Days of hosts that are not probed any more expire too: they are looked at this often. */
const EXPIRY_MS = DAY_MS;
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
    const before = shown.get(host) ?? null;
    const measured = measuredOf(of, host, now, before !== null);
    if (measured === null) return false;
    if (before !== null && isWithin(SHOWN_MS, before.at, now) && !isNews(before.measured, measured))
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
      // The clock was ahead: the probes since it was set back are older than the last one seen.
      if (now < seenUpTo) seenUpTo = 0;
      const probed = open.probedAfter(seenUpTo);
      const hosts = new Set(probed.map(({ host }) => host));
      for (const [host, { at }] of shown) if (!isWithin(EXPIRY_MS, at, now)) hosts.add(host);
      for (const { probedAt } of probed) {
        // Probes of the same moment may be written later: they are looked at again.
        if (probedAt <= now) seenUpTo = Math.max(seenUpTo, probedAt - 1);
      }
      return [...hosts].filter((host) => renewOne(open, host, now));
    },
    of: (host) => shown.get(host)?.measured ?? null,
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  };
}

/**
 * Returns what the probes of 30 days say of a host, no probes where all of these were refused or are missing. Null
 * where none was ever counted, so that the listing never had measures of this server.
 */
function measuredOf(reader: ProbeReader, host: string, now: number, wasShown: boolean): Measured | null {
  const days = reader.daysOf(host, firstDay(now));
  const probes = days.reduce((sum, day) => sum + probesOf(day), 0);
  const resources = reader.resourcesOf(host);
  // A payee is seen by counted probes alone, and kept while a resource is probed: a former process may have shown it.
  if (probes === 0 && !wasShown && resources.every(({ payTo }) => payTo === null)) return null;
  const changes = resources.flatMap(({ payToChangedAt }) => payToChangedAt ?? []);
  const prices = new Set(resources.flatMap(({ priceMicroUsd }) => priceMicroUsd ?? []));
  const [price = null] = prices.size === 1 ? prices : [];
  return {
    uptime_30d: uptimeOf(days),
    probes_30d: probes,
    // Refusals have times as well.
    median_latency_ms: probes === 0 ? null : medianMs(days),
    pay_to_changed_at: momentOf(changes.length === 0 ? null : Math.max(...changes)),
    price_usd: price === null ? null : formatUsdFixed(price, 6),
  };
}

/** False for a time ahead of the clock, too: the clock was ahead then. */
function isWithin(durationMs: number, at: number, now: number): boolean {
  return at <= now && now - at < durationMs;
}

function isNews(before: Measured, after: Measured): boolean {
  if (before.pay_to_changed_at !== after.pay_to_changed_at || before.price_usd !== after.price_usd)
    return true;
  return Math.abs((before.uptime_30d ?? 0) - (after.uptime_30d ?? 0)) >= UPTIME_STEP;
}
