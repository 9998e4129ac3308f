import type { ListingBody } from "../contract/directory-schemas.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import type { Probe, ProbeStore } from "../store/probe-port.ts";
import { createListingProbe } from "./listing-probe.ts";
import { firstDay } from "./own-evidence.ts";

/** Probes each listed resource periodically, without paying, and stores the outcomes. */
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
  /** The clock of the probes' retention. */
  readonly retentionClock: Pick<Clock, "now">;
  readonly store: ProbeStore;
  /** Called for each resource whose probe is in the store. */
  readonly onProbed: (resource: string) => void;
  /** How many listings there are. */
  readonly listingCount: () => number;
  /** Returns the next listing after a host, in the order of hosts; null after the last. */
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
const PRUNE_MS = 1000;
/** Takes 10 ms; 100 a second are more than a day of any directory has. */
const PRUNED_MAX = 100;

export function createProber(dependencies: ProberDependencies, options: ProberOptions): Prober {
  const { client, clock, retentionClock, store, onProbed, reportError } = dependencies;
  const { listingCount, listingAfter } = dependencies;
  const { intervalMs, inFlightMax } = options;
  const running = new Set<Promise<void>>();
  const aborter = new AbortController();
  const { signal } = aborter;
  const probeListing = createListingProbe({ client, clock, store, signal, intervalMs, onProbe });
  let waiting: Probe[] = [];
  let timers: ReturnType<typeof setInterval>[] = [];
  let roundStartedMs = 0;
  /** By the clock, so that a process goes on about where the one before ended. */
  const firstRound = Math.floor(clock.now() / intervalMs);
  let begun = 0;
  let lastHost = "";
  /** The first day kept, once everything older is gone. */
  let prunedTo = "";
  const counts = { probes: 0, rounds: 0, failures: 0 };

  /** Starts the probes that are due: the part of the listings that corresponds to the elapsed part of the interval. */
  function tick(): void {
    const goneMs = clock.monotonic() - roundStartedMs;
    const due = Math.ceil((Math.min(goneMs, intervalMs) / intervalMs) * listingCount());
    while (begun < due && running.size < inFlightMax) {
      const listing = listingAfter(lastHost);
      if (listing === null) break;
      lastHost = listing.host;
      begun += 1;
      begin(probeListing(listing, firstRound + counts.rounds));
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
  }

  /** Removes what is too old, a part at a time. A round may take longer than a process runs, so none is waited for. */
  function prune(): void {
    const day = firstDay(retentionClock.now());
    if (day !== prunedTo && store.removeOld(day, Date.parse(day), PRUNED_MAX) === 0) prunedTo = day;
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

  function onProbe(probe: Probe): void {
    waiting.push(probe);
    counts.probes += 1;
    if (waiting.length >= FLUSHED_MAX) flush();
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
      timers = [
        setInterval(guarded(tick, reportError), TICK_MS),
        setInterval(flush, FLUSH_MS),
        setInterval(guarded(prune, reportError), PRUNE_MS),
      ];
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
