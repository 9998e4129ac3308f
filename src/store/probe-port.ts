/** What a probe found: `paid` asked to be paid as it should, or needs no payment. */
export type ProbeStatus = "paid" | "down" | "blocked" | "payment_broken";

/** One probe of one resource. Times are milliseconds since the epoch, days are "2026-11-20" in UTC. */
export type Probe = {
  readonly url: string;
  /** The host of the listing. */
  readonly host: string;
  readonly method: string;
  readonly at: number;
  readonly day: string;
  readonly status: ProbeStatus;
  readonly ms: number | null;
  /** The ways to pay that were offered, JSON. */
  readonly accepts: string;
  /** Null where none was seen. */
  readonly payTo: string | null;
  readonly priceMicroUsd: number | null;
};

export type ProbedResource = {
  readonly url: string;
  readonly method: string;
  readonly probedAt: number;
  readonly status: ProbeStatus;
  readonly ms: number | null;
  readonly accepts: string;
  readonly payTo: string | null;
  readonly payToFirstSeen: number | null;
  readonly payToChangedAt: number | null;
  readonly priceMicroUsd: number | null;
};

/** The probes of one day. `latencies` counts the replies by the bounds of `LATENCY_BOUNDS_MS`. */
export type ProbeDay = {
  readonly day: string;
  readonly paid: number;
  readonly down: number;
  readonly blocked: number;
  readonly paymentBroken: number;
  readonly latencies: readonly number[];
};

export type ProbeChange = {
  readonly url: string;
  readonly kind: "price" | "payee";
  readonly before: string;
  readonly after: string;
  readonly at: number;
};

/** What a reader beside the prober sees of its evidence. */
export type ProbeReader = Disposable & {
  /** Returns the hosts of which a resource was probed after this time, with the time of the last probe. */
  readonly probedAfter: (time: number) => readonly { readonly host: string; readonly probedAt: number }[];
  readonly resourcesOf: (
    host: string,
  ) => readonly Pick<ProbedResource, "payTo" | "payToChangedAt" | "priceMicroUsd">[];
  /** Returns the days of all resources of a host from one on. */
  readonly daysOf: (host: string, fromDay: string) => readonly ProbeDay[];
};

/** Upper bounds of the counts of a day; what took longer is counted last. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  25, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000, 2500, 3200, 4000, 5000,
];

/** The evidence of the prober. What is written is in the file within a second of power failures. */
export type ProbeStore = {
  /** Writes probes in one transaction, and what has changed by them. */
  readonly record: (probes: readonly Probe[]) => void;
  readonly find: (url: string) => ProbedResource | undefined;
  /** Returns the days of a resource from one on, oldest first. */
  readonly days: (url: string, fromDay: string) => readonly ProbeDay[];
  /** Returns the days of a host from one on, its resources together, oldest first. */
  readonly hostDays: (host: string, fromDay: string) => readonly Omit<ProbeDay, "latencies">[];
  /** Returns up to `limit` changes of a host, newest first. */
  readonly changes: (host: string, limit: number) => readonly ProbeChange[];
  /**
   * Removes up to `limit` days and as many changes that are older, and the resources whose last probe is. Returns how many
   * days and changes: 0 once nothing older is left.
   */
  readonly removeOld: (beforeDay: string, beforeTime: number, limit: number) => number;
};
