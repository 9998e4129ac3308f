import type { Clock } from "../platform/clock.ts";
import type { ServerAddress } from "./server-address.ts";

export type StubResolverDependencies = {
  /** Tried in this order; at least one. */
  readonly servers: readonly ServerAddress[];
  readonly clock: Clock;
  /**
   * How long each attempt waits before the next one starts; their number is the number of attempts. An answer to any
   * of them counts up to the deadline of the look-up.
   */
  readonly attemptTimeoutsMs?: readonly number[];
  /** The deadline of a look-up from its first query on, aliases and TCP included. */
  readonly lookupTimeoutMs?: number;
  /**
   * Look-ups in their first attempt. A late one releases its place, so that silent servers do not block the others;
   * up to twelve times as many may be late.
   */
  readonly inFlightMax?: number;
  /** Queued look-ups; one more is refused as an `error` with the detail `queue_full`. */
  readonly waitingMax?: number;
  /** How long a failed server is tried last. */
  readonly serverPenaltyMs?: number;
  /** A random integer of 16 bits, for message ids. */
  readonly random16?: () => number;
};

/** Counters since the start, and present values. */
export type ResolverStats = {
  readonly lookups: number;
  /** Messages sent: first attempts and retries, by UDP and TCP. */
  readonly queries: number;
  readonly retries: number;
  readonly tcpQueries: number;
  readonly timeouts: number;
  readonly errors: number;
  /** Datagrams that match no open question. */
  readonly ignored: number;
  readonly inFlight: number;
  /** Look-ups past their first attempt. */
  readonly late: number;
  readonly waiting: number;
  readonly servers: readonly { readonly address: string; readonly failing: boolean }[];
};

export const RESOLVER_DEFAULTS = {
  attemptTimeoutsMs: [400, 800, 1600],
  lookupTimeoutMs: 4000,
  inFlightMax: 200,
  waitingMax: 65_536,
  serverPenaltyMs: 10_000,
} as const;
