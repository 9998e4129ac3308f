import type { Clock } from "../platform/clock.ts";

export type Rate = { readonly requestsPerSecond: number; readonly burst: number };

export type RateDecision = {
  readonly allowed: boolean;
  /** The burst: how many requests an idle caller may send at once. */
  readonly limit: number;
  /** Requests that would pass right now. */
  readonly remaining: number;
  /** Whole seconds until the full burst is available again, rounded up. */
  readonly resetSeconds: number;
  /** Whole seconds until one request passes, rounded up; 0 where this one did. */
  readonly retryAfterSeconds: number;
};

export type RateLimiter = {
  readonly take: (key: string, rate: Rate) => RateDecision;
  /** Keys that are remembered at the moment. */
  readonly size: () => number;
};

const ENTRIES_MAX = 100_000;
/** Tolerance for rounding errors of added fractions: a microsecond. */
const SLACK_MS = 1e-3;

/**
 * Limits requests by key with GCRA: the state of a key is the time at which its burst is full again. Time is monotonic, so
 * that setting the clock locks nobody out. At most `entriesMax` keys are kept: those with a full burst, which need no
 * state, are evicted first, then the least recently seen one.
 */
export function createRateLimiter(dependencies: { clock: Clock; entriesMax?: number }): RateLimiter {
  const { clock, entriesMax = ENTRIES_MAX } = dependencies;
  /** Key → when its burst is full again, in the order in which the keys were last seen. */
  const fullAtMs = new Map<string, number>();

  function makeRoom(nowMs: number): void {
    // Two probes for every new key keep the table clean, without a full scan that would block the event loop.
    let looks = 2;
    for (const [key, at] of fullAtMs) {
      if (at <= nowMs || fullAtMs.size >= entriesMax) fullAtMs.delete(key);
      looks -= 1;
      if (looks === 0) return;
    }
  }

  return {
    size: () => fullAtMs.size,
    take: (key, { requestsPerSecond, burst }) => {
      const nowMs = clock.monotonic();
      const stepMs = 1_000 / requestsPerSecond;
      const known = fullAtMs.get(key);
      const fromMs = Math.max(known ?? nowMs, nowMs);
      const nextMs = fromMs + stepMs;
      const allowed = nextMs - nowMs <= burst * stepMs + SLACK_MS;
      if (allowed) {
        if (known === undefined) makeRoom(nowMs);
        else fullAtMs.delete(key);
        fullAtMs.set(key, nextMs);
      }
      const owedMs = (allowed ? nextMs : fromMs) - nowMs;
      return {
        allowed,
        limit: burst,
        remaining: Math.max(0, Math.floor(burst - (owedMs - SLACK_MS) / stepMs)),
        resetSeconds: wholeSeconds(owedMs),
        retryAfterSeconds: allowed ? 0 : Math.max(1, wholeSeconds(nextMs - nowMs - burst * stepMs)),
      };
    },
  };
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.ceil((ms - SLACK_MS) / 1_000));
}
