import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { within } from "../platform/within.ts";
import { createScanPlaces, type ScanPlacesOptions } from "./scan-places.ts";

export type ScanCaller = {
  readonly tenant: string;
  /** Identifies the call: its repetitions have the same key. */
  readonly key: string;
  /** When the call came, monotonic. */
  readonly arrivedMs: number;
};

export type JoinedScan<Result> =
  | { readonly kind: "finished"; readonly result: Result; readonly joined: boolean }
  /** The scan did not finish within `patienceMs`, for want of our own capacity. It continues. */
  | { readonly kind: "late"; readonly id: string };

export type RunningScans<Result> = {
  /**
   * Joins the scan of the origin that is running, or starts one, and returns its outcome. Throws `overloaded` where too
   * many wait, `rate_limited` within `intervalMs` of the last start.
   */
  readonly join: (
    origin: string,
    caller: ScanCaller,
    scan: (id: string) => Promise<Result>,
  ) => Promise<JoinedScan<Result>>;
  /** Throws `rate_limited` where a call that came now could neither join nor start a scan. */
  readonly requireJoinable: (origin: string) => void;
  /** Returns the id of the scan of an origin that has not finished, or null. */
  readonly runningId: (origin: string) => string | null;
  readonly isRunning: (id: string) => boolean;
  readonly stats: () => { readonly running: number; readonly waiting: number };
};

export type RunningScansOptions = ScanPlacesOptions & {
  /** Between the starts of two scans of one origin. */
  readonly intervalMs: number;
  /** How long a call waits for its scan before it is answered `late`. */
  readonly patienceMs: number;
  readonly newId: () => string;
};

/** How long the result of a finished scan is shared: nothing fresher may be had within the interval. */
const FRESH_MS = 10_000;
/** Origins whose last scan is remembered; the oldest is evicted first. */
const ORIGINS_MAX = 20_000;
const LATE_CALLS_MAX = 20_000;

/** A scan, queued, running or finished; its times are monotonic. */
type Entry<Result> = {
  readonly id: string;
  readonly outcome: Promise<Result>;
  /** Tells that another tenant waits for it; null once it runs. */
  share: ((tenant: string) => void) | null;
  startedMs: number;
  endedMs: number | null;
};

/** Runs one scan of an origin at a time and at most `runningMax` in all; others wait for their payer's turn. */
export function createRunningScans<Result>(
  { clock }: { readonly clock: Clock },
  options: RunningScansOptions,
): RunningScans<Result> {
  const { intervalMs, patienceMs, newId } = options;
  const places = createScanPlaces(options);
  const latest = new Map<string, Entry<Result>>();
  const unfinishedIds = new Set<string>();
  /** By origin and key of the call: scans whose callers were answered `late` and will call again. */
  const late = new Map<string, Entry<Result>>();

  function start(origin: string, tenant: string, scan: (id: string) => Promise<Result>): Entry<Result> {
    const { turn, share, release } = places.acquire(tenant);
    const id = newId();
    unfinishedIds.add(id);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    promise.catch(() => undefined);
    const entry: Entry<Result> = { id, outcome: promise, share, startedMs: clock.monotonic(), endedMs: null };
    const run = async (): Promise<Result> => {
      try {
        await turn;
        entry.share = null;
        entry.startedMs = clock.monotonic();
        return await scan(id);
      } finally {
        entry.endedMs = clock.monotonic();
        unfinishedIds.delete(id);
        release();
      }
    };
    run().then(resolve, reject);
    remember(latest, origin, entry, ORIGINS_MAX);
    return entry;
  }

  /** Returns the scan whose result a call that came at `arrivedMs` may share, or null. */
  function joinable(origin: string, arrivedMs: number): Entry<Result> | null {
    const entry = latest.get(origin);
    if (entry === undefined) return null;
    return entry.endedMs === null || arrivedMs <= entry.endedMs + FRESH_MS ? entry : null;
  }

  function requireInterval(origin: string): void {
    const entry = latest.get(origin);
    if (entry === undefined) return;
    const leftMs = entry.startedMs + intervalMs - clock.monotonic();
    if (leftMs <= 0) return;
    throw new ApiError(
      "rate_limited",
      `This origin is scanned every ${Math.ceil(intervalMs / 1000)} s at most.`,
      {
        retryAfterSeconds: leftMs / 1000,
      },
    );
  }

  return {
    async join(origin, caller, scan) {
      const { tenant, arrivedMs } = caller;
      // A payment that has bought nothing yet may come back for another origin.
      const key = `${origin}\n${caller.key}`;
      const shared = late.get(key) ?? joinable(origin, arrivedMs);
      if (shared === null) requireInterval(origin);
      const entry = shared ?? start(origin, tenant, scan);
      const joined = shared !== null;
      if (joined) entry.share?.(tenant);
      const finished = await within(entry.outcome, patienceMs);
      if (finished !== null) return { kind: "finished", result: finished.result, joined };
      remember(late, key, entry, LATE_CALLS_MAX);
      return { kind: "late", id: entry.id };
    },
    requireJoinable(origin) {
      if (joinable(origin, clock.monotonic()) === null) requireInterval(origin);
    },
    runningId(origin) {
      const entry = latest.get(origin);
      return entry === undefined || entry.endedMs !== null ? null : entry.id;
    },
    isRunning: (id) => unfinishedIds.has(id),
    stats: places.stats,
  };
}

/** Puts an entry at the end and evicts the oldest one past the limit. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value, entriesMax: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= entriesMax) break;
    map.delete(oldest);
  }
}
