import type { Clock } from "../platform/clock.ts";

export type Rate = { readonly requestsPerSecond: number; readonly burst: number };

export type RateDecision = {
  readonly allowed: boolean;
  /** The burst: what a caller who has been quiet may send at once. */
  readonly limit: number;
  /** Requests that would pass right now. */
  readonly remaining: number;
  /** Whole seconds until the full burst is there again, rounded up. */
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
/** Differences below a microsecond come from adding fractions, not from time that passed. */
const SLACK_MS = 1e-3;

/**
 * Limits requests by key with GCRA: a key's whole state is the time at which its burst is full again. Time is
 * monotonic, so that a clock which is set does not lock anyone out. At most `entriesMax` keys are kept: those
 * whose burst is full are as good as unknown and go first, then the one seen longest ago.
 */
export function createRateLimiter(dependencies: { clock: Clock; entriesMax?: number }): RateLimiter {
  const { clock, entriesMax = ENTRIES_MAX } = dependencies;
  /** Key → when its burst is full again, in the order in which the keys were last seen. */
  const fullAtMs = new Map<string, number>();

  function makeRoom(nowMs: number): void {
    // Two look-ups for every new key keep the table clean without a sweep that would hold everyone up.
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

/**
 * What stands for a client in a table by address: an IPv6 network of 64 bits is one client, as its holder can
 * take any address in it, and an IPv4 address inside IPv6 is that IPv4 address.
 */
export function clientAddressKey(address: string): string {
  const lower = address.toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(lower)?.[1];
  if (mapped !== undefined) return mapped;
  if (!lower.includes(":")) return lower;
  const [head = "", tail] = lower.split("%", 1).join("").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
