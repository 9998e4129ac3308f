import type { Figure, SuiteResult } from "../result.ts";

/** What has to be carried. */
export type Demand = {
  readonly addressesPerDay: number;
  /** The busiest second against the average one. */
  readonly peakFactor: number;
  /** The share of addresses whose domain has to be looked up. */
  readonly coldShare: number;
  /** The share of addresses that come as single calls; the others come in batches. */
  readonly singleShare: number;
  readonly batchSize: number;
  /** What 99 of 100 single calls must stay under. */
  readonly p99MsMax: number;
  readonly coreHourUsd: number;
};

/** What was measured, reduced to what a plan needs. CPU is in seconds for a million addresses. */
export type Costs = {
  readonly single: Cpu;
  readonly batch: Cpu;
  readonly lookup: Cpu;
  readonly curve: readonly OfferedPoint[];
  readonly batchSeconds: number;
  readonly memory: { readonly oneBatchMb: number; readonly nextBatchMb: number };
};

export type Cpu = { readonly all: number; readonly mainThread: number };

/** Latency of single calls at one offered rate. */
export type OfferedPoint = {
  readonly share: number;
  readonly offeredPerSecond: number;
  readonly p50: number;
  readonly p99: number;
};

export type Plan = {
  readonly averagePerSecond: number;
  readonly peakPerSecond: number;
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
  /** Of a million addresses more, mixed as the others. */
  readonly nextMillion: { readonly cpuSeconds: number; readonly usd: number };
};

/** Where nothing meets the target, cores are planned half full. */
const FILL_WITHOUT_TARGET = 0.5;
/** Memory is planned with a quarter on top of what was measured. */
const MEMORY_SPARE = 1.25;
/** The knee is passed where p99 is this many times what it is on an idle machine. */
const KNEE_FACTOR = 5;

/** Reads the costs from a result of the load suite. Throws where a figure is missing. */
export function costsFrom(load: SuiteResult, batchSize: number): Costs {
  const byName = new Map(load.figures.map((figure) => [figure.name, figure]));
  const cpu = (scenario: string): Cpu => ({
    all: figureValue(byName, `${scenario}: CPU`),
    mainThread: figureValue(byName, `${scenario}: CPU of the main thread`),
  });
  const single = cpu("single verify, warm, flat out");
  const cold = cpu("single verify, cold, flat out");
  const sizes = load.figures.filter(({ at }) => at?.plot === "size" && at.cold === 0);
  const nearest = nearestSize(sizes, batchSize);
  return {
    single,
    batch: cpu(nearest.name),
    lookup: {
      all: Math.max(0, cold.all - single.all),
      mainThread: Math.max(0, cold.mainThread - single.mainThread),
    },
    curve: curveFrom(load),
    batchSeconds: batchSize / nearest.value,
    memory: memoryFrom(load),
  };
}

/** What one batch of 100,000 takes, and each one more at a time: from one and from as many as were measured. */
function memoryFrom(load: SuiteResult): Costs["memory"] {
  const measured = load.figures
    .filter(({ at }) => at?.plot === "memory" && at.size === 100_000)
    .map(({ at, value }) => ({ parallel: Number(at?.parallel), value }))
    .sort((a, b) => a.parallel - b.parallel);
  const [one, most] = [measured[0], measured.at(-1)];
  if (one === undefined || most === undefined || one.parallel === most.parallel) {
    throw new Error("The load result does not say what batches take of memory");
  }
  const nextBatchMb = Math.max(0, (most.value - one.value) / (most.parallel - one.parallel));
  return { oneBatchMb: one.value, nextBatchMb };
}

/** The points of latency over offered load, from the lowest rate to the highest. */
export function curveFrom(load: SuiteResult): OfferedPoint[] {
  return load.figures
    .filter(({ at }) => at?.plot === "offered")
    .map(({ at, p50 = Number.NaN, p99 = Number.NaN }) => ({
      share: Number(at?.share),
      offeredPerSecond: Number(at?.offeredPerSecond),
      p50,
      p99,
    }))
    .sort((a, b) => a.share - b.share);
}

function figureValue(figures: ReadonlyMap<string, Figure>, name: string): number {
  const value = figures.get(name)?.value;
  if (value === undefined) throw new Error(`The load result has no figure "${name}"`);
  return value;
}

function nearestSize(sizes: readonly Figure[], batchSize: number): Figure {
  const [first, ...others] = sizes;
  if (first === undefined) throw new Error("The load result has no batches");
  const distance = ({ at }: Figure) => Math.abs(Math.log(Number(at?.size) / batchSize));
  return others.reduce((one, other) => (distance(other) < distance(one) ? other : one), first);
}

/** The last point before latency leaves the ground for good. */
export function kneeOf(curve: readonly OfferedPoint[]): OfferedPoint | null {
  const ground = Math.min(...curve.map(({ p99 }) => p99));
  return curve.findLast(({ p99 }) => p99 <= ground * KNEE_FACTOR) ?? null;
}

/** Cores, processes and memory for a demand. */
export function planFor(demand: Demand, costs: Costs): Plan {
  const { singleShare, coldShare } = demand;
  const perMillion = (pick: (cpu: Cpu) => number) =>
    singleShare * pick(costs.single) + (1 - singleShare) * pick(costs.batch) + coldShare * pick(costs.lookup);
  const averagePerSecond = demand.addressesPerDay / 86_400;
  const peakPerSecond = averagePerSecond * demand.peakFactor;
  const coresBusyAtPeak = (peakPerSecond * perMillion(({ all }) => all)) / 1e6;
  const knee = kneeOf(costs.curve);
  const { fillMax, limit } = fillOf(demand, costs.curve, knee);
  const cores = Math.max(1, Math.ceil(coresBusyAtPeak / fillMax));
  const mainThreads = (peakPerSecond * perMillion(({ mainThread }) => mainThread)) / 1e6;
  const processes = Math.max(1, Math.ceil(mainThreads / fillMax));
  const batchesPerSecond = (peakPerSecond * (1 - singleShare)) / demand.batchSize;
  const parallelBatches = Math.max(1, Math.ceil(batchesPerSecond * costs.batchSeconds));
  const { oneBatchMb, nextBatchMb } = costs.memory;
  const cpuSeconds = perMillion(({ all }) => all);
  return {
    averagePerSecond,
    peakPerSecond,
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
    nextMillion: { cpuSeconds, usd: (cpuSeconds / fillMax / 3600) * demand.coreHourUsd },
  };
}

function fillOf(
  { p99MsMax }: Demand,
  curve: readonly OfferedPoint[],
  knee: OfferedPoint | null,
): Pick<Plan, "fillMax" | "limit"> {
  const within = curve.findLast(({ p99 }) => p99 <= p99MsMax);
  if (within === undefined) {
    return { fillMax: FILL_WITHOUT_TARGET, limit: "nothing measured meets the p99 target" };
  }
  if (knee !== null && knee.share < within.share) return { fillMax: knee.share, limit: "the knee" };
  return { fillMax: within.share, limit: "the p99 target" };
}
