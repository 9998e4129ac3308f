import type { Percentiles } from "./histogram.ts";

/** What a driver process is given, and what it reports: one line of JSON each way. */

export type Job = SinglesJob | BatchesJob;

/** A server to be measured, with a key for it. */
export type Aim = {
  readonly url: string;
  readonly key: string;
  /** Of the other nodes of its cluster, over which connections and batches at a time are spread, too. */
  readonly otherUrls?: readonly string[];
};

/** Returns the addresses of all servers of an aim. */
export const urlsOf = ({ url, otherUrls = [] }: Aim): readonly [string, ...string[]] => [url, ...otherUrls];

/** Single calls over keep-alive connections. Several aims are measured in turn, round by round. */
export type SinglesJob = {
  readonly kind: "singles";
  readonly aims: readonly Aim[];
  readonly traffic: Traffic;
  readonly connections: number;
  /** Arrivals a second, on a fixed schedule that waits for nobody; null: every connection sends without a pause. */
  readonly ratePerSecond: number | null;
  /** Keep a core busy to send on the microsecond. Otherwise a timer sends, up to a millisecond late. */
  readonly spin: boolean;
  readonly rounds: number;
  readonly roundMs: number;
};

/** `run`, with the number of the round, keeps the domains of one round different from those of all others. */
export type Traffic =
  | { readonly kind: "warm" }
  | { readonly kind: "cold"; readonly run: string }
  | { readonly kind: "mixed"; readonly run: string };

export type SinglesRound = {
  /** By the clock of the machine, for what other processes of it saw meanwhile. */
  readonly beganAtMs: number;
  readonly endedAtMs: number;
  /** All replies, those to calls before the counted ones included. */
  readonly replies: number;
  /** Right replies a second. */
  readonly perSecond: number;
  /** From the moment the schedule sets: a request that had to wait for its turn has waited in public. */
  readonly latency: Percentiles;
  /** How late the driver itself sent, of requests that found a free connection. */
  readonly lateness: Percentiles;
  /** Replies that were not 200, and requests that were never answered. */
  readonly wrong: number;
  readonly lost: number;
  /** The share of one core that the driver was busy for. */
  readonly driverBusy: number;
};

export type BatchesJob = {
  readonly kind: "batches";
  readonly aims: readonly Aim[];
  readonly size: number;
  /** Batches under way at a time. */
  readonly parallel: number;
  readonly rounds: number;
  /** A round ends with the first batch that ends after this time; at least one batch for each of `parallel`. */
  readonly roundMs: number;
  /** Not null: every batch has domains of its own that nobody asked for before. */
  readonly cold: string | null;
};

export type BatchesRound = {
  readonly addressesPerSecond: number;
  readonly batches: number;
  readonly latency: Percentiles;
  /** Until the first byte of the reply's body. */
  readonly firstByte: Percentiles;
  readonly bytesPerBatch: number;
};

/** For each aim its rounds. */
export type JobReport<Round> = { readonly aims: readonly (readonly Round[])[] };

/** The corpus that drivers and the zone of the DNS server agree on. */
export const CORPUS = { seed: 41, count: 100_000, domains: 5000 } as const;
