import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";
import type { DirectoryTurnPort } from "../store/directory-port.ts";
import { createHealth, type DirectoryStats, type DirectoryStatus, type View } from "./directory-health.ts";
import { createKeptExports, type KeptExports } from "./kept-exports.ts";
import { createKeptViews } from "./kept-views.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import { createSchedule } from "./sync/schedule.ts";
import { createSyncTurns } from "./sync/sync-turns.ts";
import type { Freshness, Published, Syncer, SyncOutcome } from "./sync/syncer.ts";

export type DirectoryDependencies = {
  readonly settings: DirectorySettings;
  readonly syncer: Syncer;
  /** Elects the process of a cluster that syncs for all; null without a cluster. */
  readonly turns?: DirectoryTurnPort | null;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Waits, or ends early when the signal fires; never throws. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly report?: (event: DirectoryEvent) => void;
};

export type DirectorySettings = {
  readonly upstream: string | null;
  readonly syncIntervalMs: number;
  /** Whether the first sync that succeeds passes the breakers. */
  readonly acceptNextSnapshot: boolean;
};

export type DirectoryEvent = {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [fact: string]: unknown;
};

export type Directory = AsyncDisposable & {
  /** Loads the last good state and starts the schedule, which retries a folder that cannot be opened. */
  readonly start: () => Promise<void>;
  /** Resolves at the end of the start, failed or not; null while no start runs. */
  readonly opening: () => Promise<void> | null;
  /** Syncs now, or joins the running sync. */
  readonly sync: () => Promise<SyncOutcome>;
  /** The newest state, null before the first. */
  readonly view: () => View | null;
  /** The state on which a walk over pages began: one of the last three, else null. */
  readonly viewOf: (version: number, digestStart: string) => View | null;
  /** Resolves once this process has the state that was published before the call, cannot get it, or 3 s have passed. */
  readonly catchUp: () => Promise<void>;
  readonly compressed: KeptExports;
  readonly status: () => DirectoryStatus;
  readonly stats: () => DirectoryStats;
};

const STALE_INTERVALS = 3;
/** How long a starting node waits for the first state of another node. */
const FIRST_STATE_MS = 5_000;
/** How long a call waits for the state that another process has published. */
const CATCH_UP_MS = 3_000;

/** Creates the reading side: it keeps the newest states, swaps them atomically, and runs the schedule. */
export function createDirectory(dependencies: DirectoryDependencies): Directory {
  const { settings, syncer, clock } = dependencies;
  const report = dependencies.report ?? (() => {});
  const health = createHealth();
  const exports = createKeptExports(syncer.gzip);
  const startedAt = clock.now();
  const ended = new AbortController();
  let acceptTripped = settings.acceptNextSnapshot;
  /** The sync side failed or could not be opened: it may have a state that was never transferred. */
  let isLost = false;

  const staleMs = settings.syncIntervalMs * STALE_INTERVALS;
  const views = createKeptViews({ clock, staleMs });
  // Dropped before the swap, so that there are never four.
  syncer.beforeSwap?.(views.dropOldest);
  let warmUp: ((snapshot: Snapshot) => void) | undefined;
  const publish = (published: Published, freshness: Freshness): void => {
    warmUp?.(published.snapshot);
    views.add(published, freshness);
    const { version, count } = published.snapshot;
    report({ level: "info", message: "new snapshot", version, count, quarantined: freshness.quarantined });
  };
  const settle = (outcome: SyncOutcome, tookMs: number): void => {
    health.note(outcome, tookMs);
    if (outcome.kind === "failed" || outcome.kind === "refused") {
      // A shutdown aborts the running sync, which is no failure.
      if (!ended.signal.aborted)
        report({ level: "warn", message: `sync ${outcome.kind}`, reason: outcome.reason });
      return;
    }
    if (outcome.kind === "followed") {
      const { published, freshness } = outcome;
      // A sync of another process has used the operator's permission.
      if (freshness.syncedAt > startedAt) acceptTripped = false;
      if (published !== null) publish(published, freshness);
      else views.refresh(freshness);
      return;
    }
    acceptTripped = false;
    for (const trip of outcome.accepted) {
      report({ level: "warn", message: "passed as DIRECTORY_ACCEPT_NEXT permits", reason: trip });
    }
    if (outcome.kind === "changed") publish(outcome.published, outcome.freshness);
    else views.refresh(outcome.freshness);
  };
  const openSyncer = async (): Promise<void> => {
    const opened = await syncer.open();
    // Imported only now that there may be a state to search, so that the first calls do not wait for it.
    ({ warmUp } = await import("./snapshot/warm-up.ts"));
    isLost = false;
    health.open(opened);
    for (const { reason: problem } of opened.problems)
      report({ level: "error", message: "stored state", problem });
    const { published, freshness } = opened;
    if (published === null || freshness === null) return;
    if (views.newest()?.snapshot.digest !== published.snapshot.digest) return publish(published, freshness);
    // The same listings in other memory: that of a former sync side is released.
    views.replaceNewest(published, freshness);
  };
  const settled = async (work: () => Promise<SyncOutcome>): Promise<SyncOutcome> => {
    const startedMs = clock.monotonic();
    let failing = "the stored state cannot be opened";
    const outcome = await (async () => {
      if (isLost) await openSyncer();
      failing = "the sync thread broke down";
      return work();
    })().catch((error: unknown): SyncOutcome => {
      isLost = true;
      return { kind: "failed", reason: reasonOf(error), shown: failing, retryAfterMs: null };
    });
    settle(outcome, clock.monotonic() - startedMs);
    return outcome;
  };
  const syncInTerm = (term: number | null) => settled(() => syncer.sync({ acceptTripped, term }));
  const { random, wait = pause } = dependencies;
  const scheduling = { intervalMs: settings.syncIntervalMs, random, wait };
  const syncAlone = singleFlight(() => syncInTerm(null));
  const schedule = createSchedule({ ...scheduling, sync: syncAlone });
  const turns =
    dependencies.turns === undefined || dependencies.turns === null
      ? null
      : createSyncTurns({
          ...scheduling,
          turns: dependencies.turns,
          clock,
          lead: syncInTerm,
          follow: () => settled(syncer.follow),
          confirmed: ({ syncedAt, upstreamAgeMs }) => views.refresh({ syncedAt, upstreamAgeMs }),
          failed: (error) => {
            report({ level: "warn", message: "the turn to sync is not known", reason: reasonOf(error) });
          },
        });
  const sync = turns?.sync ?? syncAlone;
  let opening: Promise<void> | null = null;
  const open = async (): Promise<void> => {
    await openSyncer().catch((error: unknown) => {
      isLost = true;
      if (ended.signal.aborted) return;
      report({ level: "error", message: "the stored state cannot be opened", reason: reasonOf(error) });
    });
    if (ended.signal.aborted) return;
    const isLocal = settings.upstream === null;
    if (turns !== null) {
      return turns.start({ until: () => !isLocal || views.newest() !== null, withinMs: FIRST_STATE_MS });
    }
    if (isLocal && !isLost) await sync();
    schedule.start({ atOnce: !isLocal || isLost });
  };
  return {
    start() {
      const opened = open();
      const end = () => {
        opening = null;
      };
      opening = opened.then(end, end);
      return opened;
    },
    opening: () => opening,
    sync,
    view: views.newest,
    viewOf: views.find,
    catchUp: async () => {
      if (turns !== null) await Promise.race([turns.refresh(), wait(CATCH_UP_MS, ended.signal)]);
    },
    compressed: exports,
    status: () => health.status(views.newest()),
    stats: () => health.stats(views.newest(), turns?.isLeading() ?? null),
    async [Symbol.asyncDispose]() {
      ended.abort();
      schedule.stop();
      await turns?.stop();
      await syncer[Symbol.asyncDispose]();
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a function whose concurrent callers share one run of the work. */
function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
