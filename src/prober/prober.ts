import type { ListingBody } from "../contract/directory-schemas.ts";
import type { Accepted } from "../contract/specification/check.ts";
import type { FailureReason } from "../net/failure.ts";
import type { HttpClient } from "../net/http-client.ts";
import { NETWORKS } from "../payments/networks.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS, dayOf } from "../platform/days.ts";
import type { Probe, ProbeStore } from "../store/probe-port.ts";
import { createOptOuts } from "./opt-outs.ts";
import { DAYS_KEPT } from "./own-evidence.ts";
import { type Probed, type ProbedReply, readProbe } from "./probe-reply.ts";

/** Calls each listed resource without paying, again and again, and keeps what it sees. */
export type Prober = AsyncDisposable & {
  readonly start: () => void;
  readonly stats: () => ProberStats;
};

export type ProberStats = {
  readonly inFlight: number;
  readonly probes: number;
  readonly rounds: number;
  readonly failures: number;
};

export type ProberDependencies = {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly store: ProbeStore;
  /** Called for each resource whose probe is in the store. */
  readonly onProbed: (resource: string) => void;
  /** How many listings there are. */
  readonly listingCount: () => number;
  /** Returns the first listing whose host comes after another one, by the order of hosts; null after the last. */
  readonly listingAfter: (host: string) => ListingBody | null;
  readonly reportError: (error: unknown) => void;
};

export type ProberOptions = {
  /** Of a round over all listings, which are spread over it. */
  readonly intervalMs: number;
  readonly inFlightMax: number;
};

const TICK_MS = 100;
const FLUSH_MS = 1000;
const FLUSHED_MAX = 200;
/** Of one listing in one round. */
const RESOURCES_MAX = 20;
const BODY_BYTES_MAX = 65_536;
const PRUNED_MAX = 500;
const USDC_DECIMALS_MAX = 15;
const NOT_LOOKED_UP: readonly FailureReason[] = ["dns_failed", "dns_timeout"];

type Asked = {
  /** Null where none came. */
  readonly reply: ProbedReply | null;
  readonly ms: number | null;
  /** It was not found out whether there is anybody to answer. */
  readonly isUnknown: boolean;
};

export function createProber(dependencies: ProberDependencies, options: ProberOptions): Prober {
  const { client, clock, store, onProbed, listingCount, listingAfter, reportError } = dependencies;
  const { intervalMs, inFlightMax } = options;
  const optOuts = createOptOuts({ client, clock });
  const running = new Set<Promise<void>>();
  const aborter = new AbortController();
  let waiting: Probe[] = [];
  let timers: ReturnType<typeof setInterval>[] = [];
  let roundStartedMs = 0;
  let begun = 0;
  let lastHost = "";
  const counts = { probes: 0, rounds: 0, failures: 0 };

  /** Begins what is due by now: the share of the listings that the time gone by is of the interval. */
  function tick(): void {
    const goneMs = clock.monotonic() - roundStartedMs;
    const due = Math.ceil((Math.min(goneMs, intervalMs) / intervalMs) * listingCount());
    while (begun < due && running.size < inFlightMax) {
      const listing = listingAfter(lastHost);
      if (listing === null) break;
      lastHost = listing.host;
      begun += 1;
      begin(probeListing(listing));
    }
    // A round that takes longer than the interval is finished before the next begins.
    const isOver = goneMs >= intervalMs && (begun >= due || listingAfter(lastHost) === null);
    if (isOver) nextRound();
  }

  function nextRound(): void {
    roundStartedMs = clock.monotonic();
    begun = 0;
    lastHost = "";
    counts.rounds += 1;
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    const oldest = today - (DAYS_KEPT - 1) * DAY_MS;
    store.removeOld(dayOf(oldest), oldest, PRUNED_MAX);
  }

  function begin(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        counts.failures += 1;
        reportError(error);
      })
      .finally(() => running.delete(done));
    running.add(done);
  }

  /** One resource of a listing after the other, so that no host is asked twice at a time. */
  async function probeListing({ host, resources }: ListingBody): Promise<void> {
    for (const { url, price_usd: priceUsd } of resources.slice(0, RESOURCES_MAX)) {
      if (aborter.signal.aborted) return;
      await probeResource(host, url, priceUsd !== null);
    }
  }

  async function probeResource(host: string, url: string, isPaid: boolean): Promise<void> {
    if (await optOuts.keepsOut(url, aborter.signal)) return;
    const known = store.find(url)?.method ?? "GET";
    let method = known;
    let asked = await ask(url, method);
    // Without an answer of the DNS nobody was asked: it may be our own connection that is down.
    if (aborter.signal.aborted || asked.isUnknown) return;
    // Listings do not say which method a resource takes: one that does not take GET is asked by POST from then on.
    if (isPaid && asked.reply !== null && [400, 404, 405, 415, 422].includes(asked.reply.status)) {
      const other = method === "GET" ? "POST" : "GET";
      const second = await ask(url, other);
      if (second.reply?.status === 402) {
        asked = second;
        method = other;
      }
    }
    const probed = readProbe(asked.reply, isPaid);
    const at = clock.now();
    const { status } = probed;
    const ms = asked.ms;
    const accepts = JSON.stringify(probed.accepts);
    waiting.push({ ...{ url, host, method, at, day: dayOf(at), status, ms, accepts }, ...paymentOf(probed) });
    counts.probes += 1;
    if (waiting.length >= FLUSHED_MAX) flush();
  }

  async function ask(url: string, method: string): Promise<Asked> {
    const sent = await client.send(url, {
      method,
      signal: aborter.signal,
      truncateBody: true,
      bodyBytesMax: BODY_BYTES_MAX,
    });
    if (!sent.ok) return { reply: null, ms: null, isUnknown: NOT_LOOKED_UP.includes(sent.reason) };
    const { lookupMs, connectMs, tlsMs, headMs } = sent.timings;
    const body = Buffer.from(sent.body).toString("utf8");
    return {
      reply: { status: sent.status, headers: sent.headers, body },
      ms: Math.round(lookupMs + connectMs + tlsMs + headMs),
      isUnknown: false,
    };
  }

  function flush(): void {
    const probes = waiting;
    waiting = [];
    if (probes.length === 0) return;
    try {
      store.record(probes);
      for (const { url } of probes) onProbed(url);
    } catch (error) {
      counts.failures += 1;
      reportError(error);
    }
  }

  return {
    start() {
      roundStartedMs = clock.monotonic();
      timers = [setInterval(guarded(tick, reportError), TICK_MS), setInterval(flush, FLUSH_MS)];
      for (const timer of timers) timer.unref();
    },
    stats: () => ({ inFlight: running.size, ...counts }),
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      aborter.abort();
      await Promise.all(running);
      flush();
    },
  };
}

function guarded(work: () => void, reportError: (error: unknown) => void): () => void {
  return () => {
    try {
      work();
    } catch (error) {
      reportError(error);
    }
  };
}

function paymentOf({ accepts }: Probed): Pick<Probe, "payTo" | "priceMicroUsd"> {
  const way = usualWay(accepts);
  if (way === undefined) return { payTo: null, priceMicroUsd: null };
  // USDC has six decimals, so an atomic unit is a micro-USD.
  const isPlausible = way.amount.length <= USDC_DECIMALS_MAX;
  return { payTo: way.pay_to, priceMicroUsd: isPlausible ? Number(way.amount) : null };
}

/** Returns the same way to pay in whatever order they come: USDC by the order of networks, else the first. */
function usualWay(accepts: readonly Accepted[]): Accepted | undefined {
  for (const { id, alias, usdc } of NETWORKS) {
    const found = accepts.find(
      ({ network, asset }) =>
        (network === id || network === alias) && asset.toLowerCase() === usdc.toLowerCase(),
    );
    if (found !== undefined) return found;
  }
  return accepts[0];
}
