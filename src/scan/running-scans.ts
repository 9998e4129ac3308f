import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { within } from "../platform/within.ts";

export type FlightCaller = {
  readonly tenant: string;
  /** Names the call over its repetitions. */
  readonly key: string;
  /** When the call came, monotonic. */
  readonly arrivedMs: number;
};

export type Landing<Result> =
  | { readonly kind: "landed"; readonly result: Result; readonly joined: boolean }
  /** Our own capacity kept it from landing in time. It goes on. */
  | { readonly kind: "late"; readonly id: string };

export type ScanFlights<Result> = {
  /**
   * Returns the outcome of the origin's flight, which the call joins or begins. Throws `overloaded` where too many
   * wait, `rate_limited` where the last one began too short a time ago.
   */
  readonly board: (
    origin: string,
    caller: FlightCaller,
    fly: (id: string) => Promise<Result>,
  ) => Promise<Landing<Result>>;
  /** Throws `rate_limited` where a call that came now could neither join nor begin a flight. */
  readonly requireBoardable: (origin: string) => void;
  /** Returns the id of the flight of an origin that has not landed, or null. */
  readonly under: (origin: string) => string | null;
  readonly isFlying: (id: string) => boolean;
  readonly stats: () => { readonly running: number; readonly waiting: number };
};

export type FlightOptions = {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
  /** Between the starts of two flights of one origin. */
  readonly intervalMs: number;
  /** From the beginning of a wait until it is answered that it is late. */
  readonly patienceMs: number;
  readonly newId: () => string;
};

/** A call that comes so shortly after a landing gets what landed: nothing fresher may be had within the interval. */
const FRESH_MS = 10_000;
/** Origins whose last flight is remembered; the oldest is evicted first. */
const ORIGINS_MAX = 20_000;
const OWED_MAX = 20_000;

/** One scan, from the call that asked for it first; its times are monotonic. */
type Flight<Result> = {
  readonly id: string;
  readonly outcome: Promise<Result>;
  startedMs: number;
  endedMs: number | null;
};

/** Lets one flight of an origin fly at a time, and as many at once as there is capacity; the others wait in order. */
export function createScanFlights<Result>(
  { clock }: { readonly clock: Clock },
  options: FlightOptions,
): ScanFlights<Result> {
  const { runningMax, waitingMax, waitingPerTenantMax, intervalMs, patienceMs, newId } = options;
  const latest = new Map<string, Flight<Result>>();
  const flying = new Set<string>();
  /** Flights that late calls come back for. */
  const owed = new Map<string, Flight<Result>>();
  const waiting: { readonly tenant: string; readonly start: () => void }[] = [];
  let running = 0;

  function acquire(tenant: string): Promise<void> | null {
    if (running < runningMax) {
      running += 1;
      return null;
    }
    const ofTenant = waiting.filter((entry) => entry.tenant === tenant).length;
    if (waiting.length >= waitingMax || ofTenant >= waitingPerTenantMax) throw new ApiError("overloaded");
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ tenant, start: resolve });
    return promise;
  }

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next.start();
  }

  function begin(origin: string, tenant: string, fly: (id: string) => Promise<Result>): Flight<Result> {
    const turn = acquire(tenant);
    const id = newId();
    flying.add(id);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    promise.catch(() => undefined);
    const entry: Flight<Result> = { id, outcome: promise, startedMs: clock.monotonic(), endedMs: null };
    const land = async (): Promise<Result> => {
      try {
        await turn;
        entry.startedMs = clock.monotonic();
        return await fly(id);
      } finally {
        entry.endedMs = clock.monotonic();
        flying.delete(id);
        release();
      }
    };
    land().then(resolve, reject);
    remember(latest, origin, entry, ORIGINS_MAX);
    return entry;
  }

  /** Returns the flight that a call which came then may share, or null. */
  function joinable(origin: string, arrivedMs: number): Flight<Result> | null {
    const entry = latest.get(origin);
    if (entry === undefined) return null;
    return entry.endedMs === null || arrivedMs <= entry.endedMs + FRESH_MS ? entry : null;
  }

  function requireInterval(origin: string): void {
    const entry = latest.get(origin);
    if (entry === undefined) return;
    const leftMs = entry.startedMs + intervalMs - clock.monotonic();
    if (leftMs <= 0) return;
    throw new ApiError("rate_limited", "This origin was scanned less than a minute ago.", {
      retryAfterSeconds: leftMs / 1000,
    });
  }

  return {
    async board(origin, caller, fly) {
      const { tenant, key, arrivedMs } = caller;
      const shared = owed.get(key) ?? joinable(origin, arrivedMs);
      if (shared === null) requireInterval(origin);
      const entry = shared ?? begin(origin, tenant, fly);
      const joined = shared !== null;
      const landed = await within(entry.outcome, patienceMs);
      if (landed !== null) return { kind: "landed", result: landed.result, joined };
      remember(owed, key, entry, OWED_MAX);
      return { kind: "late", id: entry.id };
    },
    requireBoardable(origin) {
      if (joinable(origin, clock.monotonic()) === null) requireInterval(origin);
    },
    under(origin) {
      const entry = latest.get(origin);
      return entry === undefined || entry.endedMs !== null ? null : entry.id;
    },
    isFlying: (id) => flying.has(id),
    stats: () => ({ running, waiting: waiting.length }),
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
