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
/** And how much longer it is held, for calls that came in time and whose payment is still verified. */
const VERIFIED_MS_MAX = 30_000;
/** Origins whose last scan is remembered; the oldest is evicted first. */
const ORIGINS_MAX = 20_000;
/** How long a call that was answered `late` may come back for its scan: as long as its payment is valid. */
const LATE_MS = 600_000;
/** Each with a result of up to 0.4 MB; the oldest is evicted first. */
const LATE_CALLS_MAX = 500;

/** A scan, queued, running or finished; its times are monotonic. */
type Entry<Result> = {
  readonly id: string;
  /** Null where it has failed, and once it is too old to be shared. */
  outcome: Promise<Result> | null;
  /** Adds another tenant who waits for it; null once it runs. */
  share: ((tenant: string) => void) | null;
  startedMs: number;
  endedMs: number | null;
};

/** What a call waits for. */
type Shared<Result> = { readonly entry: Entry<Result>; readonly outcome: Promise<Result> };

/** Runs one scan of an origin at a time and at most `runningMax` in all; others wait for their payer's turn. */
export function createRunningScans<Result>(
  { clock }: { readonly clock: Clock },
  options: RunningScansOptions,
): RunningScans<Result> {
  const { intervalMs, patienceMs, newId } = options;
  const places = createScanPlaces(options);
  const latest = new Map<string, Entry<Result>>();
  /** Those whose outcome is held, in order of their ends. */
  const finished = new Set<Entry<Result>>();
  const unfinishedIds = new Set<string>();
  /** By origin and key of the call: scans whose callers were answered `late` and will call again, in order of that. */
  const late = new Map<string, Shared<Result> & { readonly answeredMs: number }>();

  function start(origin: string, tenant: string, scan: (id: string) => Promise<Result>): Shared<Result> {
    const { turn, share, release } = places.acquire(tenant);
    const id = newId();
    unfinishedIds.add(id);
    const { promise: outcome, resolve, reject } = Promise.withResolvers<Result>();
    outcome.catch(() => undefined);
    const entry: Entry<Result> = { id, outcome, share, startedMs: clock.monotonic(), endedMs: null };
    const run = async (): Promise<Result> => {
      try {
        await turn;
        entry.share = null;
        entry.startedMs = clock.monotonic();
        const result = await scan(id);
        finished.add(entry);
        return result;
      } catch (error) {
        forgetFailed(entry);
        throw error;
      } finally {
        entry.endedMs = clock.monotonic();
        unfinishedIds.delete(id);
        release();
        forgetOld();
      }
    };
    run().then(resolve, reject);
    remember(latest, origin, entry, ORIGINS_MAX);
    return { entry, outcome };
  }

  /** A caller who comes back gets another scan, not the failure of this one. */
  function forgetFailed(entry: Entry<Result>): void {
    entry.outcome = null;
    for (const [key, scan] of late) {
      if (scan.entry === entry) late.delete(key);
    }
  }

  function forgetOld(): void {
    const nowMs = clock.monotonic();
    for (const entry of finished) {
      if (nowMs <= (entry.endedMs ?? nowMs) + FRESH_MS + VERIFIED_MS_MAX) break;
      finished.delete(entry);
      entry.outcome = null;
    }
    for (const [key, { answeredMs }] of late) {
      if (nowMs <= answeredMs + LATE_MS) break;
      late.delete(key);
    }
  }

  /** Returns the scan whose result a call that came at `arrivedMs` may share, or null. */
  function joinable(origin: string, arrivedMs: number): Shared<Result> | null {
    forgetOld();
    const entry = latest.get(origin);
    if (entry === undefined || entry.outcome === null) return null;
    const isShared = entry.endedMs === null || arrivedMs <= entry.endedMs + FRESH_MS;
    return isShared ? { entry, outcome: entry.outcome } : null;
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
      const fresh = joinable(origin, arrivedMs);
      const shared = late.get(key) ?? fresh;
      if (shared === null) requireInterval(origin);
      const { entry, outcome } = shared ?? start(origin, tenant, scan);
      if (shared !== null) entry.share?.(tenant);
      const finishedInTime = await within(outcome, patienceMs);
      if (finishedInTime !== null) {
        return { kind: "finished", result: finishedInTime.result, joined: shared !== null };
      }
      const answeredMs = clock.monotonic();
      if (entry.outcome !== null) remember(late, key, { entry, outcome, answeredMs }, LATE_CALLS_MAX);
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
