import type { Figure, SuiteResult } from "../result.ts";

/** What was measured, reduced to what a plan needs. CPU is in seconds for a million items. */
export type Costs = {
  readonly single: Cpu;
  /** Of each size of batch that was measured. */
  readonly batches: readonly BatchCost[];
  readonly lookup: Cpu;
  readonly curve: readonly OfferedPoint[];
  readonly memory: { readonly oneBatchMb: number; readonly nextBatchMb: number };
  /** Null where the result is of a suite that did not measure it. */
  readonly more: MoreCosts | null;
};

export type BatchCost = { readonly size: number; readonly cpu: Cpu; readonly addressesPerSecond: number };

export type Cpu = { readonly all: number; readonly mainThread: number };

export type MoreCosts = {
  readonly document: Cpu;
  readonly phone: Cpu;
  readonly jobRow: Cpu;
  /** Beyond a look-up without `deep`. */
  readonly deepLookup: Cpu;
  readonly queries: { readonly plain: number; readonly deep: number };
  readonly bytes: { readonly [item in Item]: ItemBytes };
  /** Of each row of a job, until the job is deleted. */
  readonly jobRowDiskBytes: number;
};

export const ITEMS = ["single", "batch", "document", "phone", "job"] as const;
export type Item = (typeof ITEMS)[number];

/** Of one item, in and out of the server, and of its charge on the disk. */
export type ItemBytes = {
  readonly received: number;
  readonly sent: number;
  readonly sentGzip: number;
  readonly charge: number;
};

/** Latency of single calls at one offered rate. */
export type OfferedPoint = {
  readonly share: number;
  readonly offeredPerSecond: number;
  readonly p50: number;
  /** As measured, the median of the rounds. */
  readonly p99: number;
  /** What a plan counts with: no less than at any lower rate, as more load makes no call faster. */
  readonly p99Settled: number;
  /** The lowest and the highest of the rounds; null where there was one. */
  readonly spread: { readonly p50: Range; readonly p99: Range; readonly rounds: number } | null;
};

export type Range = readonly [low: number, high: number];

/** How the load suite names what it measures for plans, and this file reads. */
export const COST_NAMES = {
  document: "documents in batches of 1,000",
  phone: "phone numbers in batches of 1,000",
  jobRow: "rows of a job",
  plainLookup: "new domains, one address each",
  deepLookup: "new domains, one address each, deep",
  queries: "DNS queries",
  received: "bytes received",
  sent: "bytes sent",
  sentGzip: "bytes sent, gzip",
  charge: "bytes of its charge on disk",
  kept: "bytes kept on disk",
  item: {
    single: "a single call",
    batch: "an address in a batch of 1,000",
    document: "a document in a batch of 1,000",
    phone: "a phone number in a batch of 1,000",
    job: "a row of a job",
  },
} as const;

type Figures = ReadonlyMap<string, Figure>;

/** Reads the costs from a result of the load suite. Throws where a figure is missing that each such suite has. */
export function costsFrom(load: SuiteResult): Costs {
  const figures: Figures = new Map(load.figures.map((figure) => [figure.name, figure]));
  const single = cpuOf(figures, "single verify, warm, flat out");
  const batches = load.figures
    .filter(({ at }) => at?.plot === "size" && at.cold === 0)
    .map(({ name, at, value }) => ({
      size: Number(at?.size),
      cpu: cpuOf(figures, name),
      addressesPerSecond: value,
    }));
  if (batches.length === 0) throw new Error("The load result has no batches");
  return {
    single,
    batches,
    lookup: beyond(cpuOf(figures, "single verify, cold, flat out"), single),
    curve: curveFrom(load),
    memory: memoryFrom(load),
    more: figures.has(`${COST_NAMES.deepLookup}: ${COST_NAMES.queries}`) ? moreFrom(figures) : null,
  };
}

/** Returns what batches cost of the size that is nearest to this one. Throws where none was measured. */
export function batchCostOf({ batches }: Costs, size: number): BatchCost {
  const distance = (one: BatchCost) => Math.abs(Math.log(one.size / size));
  return batches.reduce((one, other) => (distance(other) < distance(one) ? other : one));
}

function moreFrom(figures: Figures): MoreCosts {
  const { document, phone, jobRow, plainLookup, deepLookup, queries, item, kept } = COST_NAMES;
  const bytesOf = (which: Item): ItemBytes => {
    const bytes = (name: string) => figureValue(figures, `${item[which]}: ${name}`);
    return {
      received: bytes(COST_NAMES.received),
      sent: bytes(COST_NAMES.sent),
      sentGzip: bytes(COST_NAMES.sentGzip),
      charge: bytes(COST_NAMES.charge),
    };
  };
  return {
    document: cpuOf(figures, document),
    phone: cpuOf(figures, phone),
    jobRow: cpuOf(figures, jobRow),
    deepLookup: beyond(cpuOf(figures, deepLookup), cpuOf(figures, plainLookup)),
    queries: {
      plain: figureValue(figures, `${plainLookup}: ${queries}`),
      deep: figureValue(figures, `${deepLookup}: ${queries}`),
    },
    bytes: {
      single: bytesOf("single"),
      batch: bytesOf("batch"),
      document: bytesOf("document"),
      phone: bytesOf("phone"),
      job: bytesOf("job"),
    },
    jobRowDiskBytes: figureValue(figures, `${item.job}: ${kept}`),
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
function curveFrom(load: SuiteResult): OfferedPoint[] {
  const points = load.figures
    .filter(({ at }) => at?.plot === "offered")
    .map(({ at, p50 = Number.NaN, p99 = Number.NaN, spread = null }) => ({
      share: Number(at?.share),
      offeredPerSecond: Number(at?.offeredPerSecond),
      p50,
      p99,
      spread,
    }))
    .sort((a, b) => a.share - b.share);
  let p99Settled = 0;
  return points.map((point) => {
    p99Settled = Math.max(p99Settled, point.p99);
    return { ...point, p99Settled };
  });
}

function cpuOf(figures: Figures, scenario: string): Cpu {
  return {
    all: figureValue(figures, `${scenario}: CPU`),
    mainThread: figureValue(figures, `${scenario}: CPU of the main thread`),
  };
}

function beyond(whole: Cpu, part: Cpu): Cpu {
  return {
    all: Math.max(0, whole.all - part.all),
    mainThread: Math.max(0, whole.mainThread - part.mainThread),
  };
}

function figureValue(figures: Figures, name: string): number {
  const value = figures.get(name)?.value;
  if (value === undefined) throw new Error(`The load result has no figure "${name}"`);
  return value;
}
