import {
  batchCostOf,
  type Costs,
  type Cpu,
  type Item,
  type ItemBytes,
  type MoreCosts,
  type OfferedPoint,
} from "./costs.ts";
import type { Demand } from "./demand.ts";

export type Plan = {
  readonly averagePerSecond: number;
  /** Addresses of calls in the busiest second; rows of jobs wait for quieter ones. */
  readonly peakPerSecond: number;
  readonly jobRowsPerSecond: number;
  /** CPU seconds that the busiest second takes. */
  readonly coresBusyAtPeak: number;
  /** How far a core may be filled before latency leaves the target, or the knee is passed. */
  readonly fillMax: number;
  readonly limit: "the p99 target" | "the knee" | "nothing measured meets the p99 target";
  readonly cores: number;
  /** The share of the cores that is free at the peak. */
  readonly headroom: number;
  readonly processes: number;
  readonly threadsPerProcess: number;
  readonly parallelBatches: number;
  readonly memoryMb: number;
  readonly knee: OfferedPoint | null;
  /** Null where the load result does not say. */
  readonly more: MorePlan | null;
  /** Of a million addresses more, mixed as the others. */
  readonly nextMillion: { readonly cpuSeconds: number; readonly usd: number };
};

export type MorePlan = {
  /** In the busiest second. */
  readonly dnsQueriesPerSecond: number;
  readonly receivedMbitPerSecond: number;
  readonly sentMbitPerSecond: number;
  readonly sentGzipMbitPerSecond: number;
  /** What charges add to the disk on a day, for good. */
  readonly chargesMbPerDay: number;
  /** What jobs take of the disk at any time, once the first of them are deleted. */
  readonly jobsMb: number;
};

/** Items of each kind in a second. */
type Rates = { readonly [item in Item]: number };

/** Where nothing meets the target, cores are planned half full. */
const FILL_WITHOUT_TARGET = 0.5;
/** Memory is planned with a quarter on top of what was measured. */
const MEMORY_SPARE = 1.25;
/** The knee is passed where p99 is this many times what it is on an idle machine. */
const KNEE_FACTOR = 5;
const DAY_SECONDS = 86_400;
const NO_CPU: Cpu = { all: 0, mainThread: 0 };

/** Returns the last point before latency leaves the ground for good. */
export function kneeOf(curve: readonly OfferedPoint[]): OfferedPoint | null {
  const ground = Math.min(...curve.map(({ p99Settled }) => p99Settled));
  return curve.findLast(({ p99Settled }) => p99Settled <= ground * KNEE_FACTOR) ?? null;
}

/** Returns cores, processes, memory, network and disk for a demand. */
export function planFor(demand: Demand, costs: Costs): Plan {
  const peak = ratesAtPeak(demand);
  const cpuSeconds = (rates: Rates, pick: (cpu: Cpu) => number) => cpuOf(rates, demand, costs, pick);
  const coresBusyAtPeak = cpuSeconds(peak, ({ all }) => all);
  const knee = kneeOf(costs.curve);
  const { fillMax, limit } = fillOf(demand, costs.curve, knee);
  const cores = Math.max(1, Math.ceil(coresBusyAtPeak / fillMax));
  const processes = Math.max(1, Math.ceil(cpuSeconds(peak, ({ mainThread }) => mainThread) / fillMax));
  const { addressesPerSecond } = batchCostOf(costs, demand.batchSize);
  const parallelBatches = Math.max(1, Math.ceil(peak.batch / addressesPerSecond));
  const { oneBatchMb, nextBatchMb } = costs.memory;
  const million = cpuSeconds(ratesOf(demand, 1_000_000, 0), ({ all }) => all);
  return {
    averagePerSecond: demand.addressesPerDay / DAY_SECONDS,
    peakPerSecond: peak.single + peak.batch,
    jobRowsPerSecond: peak.job,
    coresBusyAtPeak,
    fillMax,
    limit,
    cores,
    headroom: 1 - coresBusyAtPeak / cores,
    processes,
    threadsPerProcess: Math.max(1, Math.ceil(cores / processes)),
    parallelBatches,
    memoryMb: (oneBatchMb * processes + nextBatchMb * (parallelBatches - 1)) * MEMORY_SPARE,
    knee,
    more: costs.more === null ? null : morePlan(demand, peak, costs.more),
    nextMillion: { cpuSeconds: million, usd: (million / fillMax / 3600) * demand.coreHourUsd },
  };
}

function ratesOf(demand: Demand, addresses: number, others: number): Rates {
  const { singleShare, jobShare } = demand;
  return {
    single: addresses * singleShare,
    batch: addresses * Math.max(0, 1 - singleShare - jobShare),
    job: addresses * jobShare,
    document: others * demand.documentsPerDay,
    phone: others * demand.phonesPerDay,
  };
}

/** Returns what comes in the busiest second. Jobs yield to calls: their rows are spread over the day. */
export function ratesAtPeak(demand: Demand): Rates {
  const average = ratesOf(demand, demand.addressesPerDay / DAY_SECONDS, 1 / DAY_SECONDS);
  const of = (item: Item) => average[item] * demand.peakFactor;
  return {
    single: of("single"),
    batch: of("batch"),
    document: of("document"),
    phone: of("phone"),
    job: average.job,
  };
}

/** CPU seconds of a number of items. */
function cpuOf(rates: Rates, demand: Demand, costs: Costs, pick: (cpu: Cpu) => number): number {
  const { coldShare, deepShare, batchSize } = demand;
  const { single, lookup, more } = costs;
  const batch = batchCostOf(costs, batchSize).cpu;
  const deep = more?.deepLookup ?? NO_CPU;
  const cold = (rates.single + rates.batch + rates.job) * coldShare;
  const microseconds =
    rates.single * pick(single) +
    rates.batch * pick(batch) +
    // A row of a job costs about what an address of a batch does.
    rates.job * pick(more?.jobRow ?? batch) +
    rates.document * pick(more?.document ?? NO_CPU) +
    rates.phone * pick(more?.phone ?? NO_CPU) +
    cold * (pick(lookup) + deepShare * pick(deep));
  return microseconds / 1e6;
}

function morePlan(demand: Demand, peak: Rates, more: MoreCosts): MorePlan {
  const { coldShare, deepShare, addressesPerDay, jobShare, jobDaysKept } = demand;
  const cold = (peak.single + peak.batch + peak.job) * coldShare;
  const { plain, deep } = more.queries;
  const sum = (rates: Rates, pick: (bytes: ItemBytes) => number) =>
    rates.single * pick(more.bytes.single) +
    rates.batch * pick(more.bytes.batch) +
    rates.document * pick(more.bytes.document) +
    rates.phone * pick(more.bytes.phone) +
    rates.job * pick(more.bytes.job);
  const mbit = (pick: (bytes: ItemBytes) => number) => (sum(peak, pick) * 8) / 1e6;
  return {
    dnsQueriesPerSecond: cold * (plain + deepShare * (deep - plain)),
    receivedMbitPerSecond: mbit(({ received }) => received),
    sentMbitPerSecond: mbit(({ sent }) => sent),
    sentGzipMbitPerSecond: mbit(({ sentGzip }) => sentGzip),
    chargesMbPerDay: sum(ratesOf(demand, addressesPerDay, 1), ({ charge }) => charge) / 1e6,
    jobsMb: (addressesPerDay * jobShare * jobDaysKept * more.jobRowDiskBytes) / 1e6,
  };
}

function fillOf(
  { p99MsMax }: Demand,
  curve: readonly OfferedPoint[],
  knee: OfferedPoint | null,
): Pick<Plan, "fillMax" | "limit"> {
  const within = curve.findLast(({ p99Settled }) => p99Settled <= p99MsMax);
  if (within === undefined) {
    return { fillMax: FILL_WITHOUT_TARGET, limit: "nothing measured meets the p99 target" };
  }
  if (knee !== null && knee.share < within.share) return { fillMax: knee.share, limit: "the knee" };
  return { fillMax: within.share, limit: "the p99 target" };
}
