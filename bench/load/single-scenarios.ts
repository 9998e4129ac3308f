import { type Figure, judgeTarget, median, overRounds, type RoundRange } from "../result.ts";
import { measureSyncMs } from "./disk-sync.ts";
import type { Aim, SinglesJob, SinglesRound } from "./jobs.ts";
import { drive, startFile } from "./processes.ts";
import { replyToCopy } from "./proof.ts";
import { type Spent, spending } from "./readings.ts";
import { type Bench, type Findings, medianOf, medianRatio } from "./scenarios.ts";
import { warmPaths } from "./singles.ts";
import { openWrk } from "./wrk.ts";

/** Few callers and many: the more calls are under way, the more of them share a commit. */
const CONNECTIONS = [
  { connections: 16, atLeast: 0.35 },
  { connections: 64, atLeast: 0.6 },
  { connections: 256, atLeast: 0.6 },
] as const;
const CONNECTIONS_BEST = 256;
const WRK_CONNECTIONS = 64;
/** Two drivers agree where they are no further apart. */
const WRK_APART_MAX = 0.1;
const SINGLES_GROUP = "single checks (p50, p99: ms, from the moment that the schedule sets)";
/** Code that is not yet compiled runs at a third of its speed. */
const WARMUP_MS = 2500;
const WARMUP_MS_MIN = 500;
/** Offered rates as shares of what the server does flat out. */
const SHARES = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1] as const;
const SHARES_QUICK = [0.25, 0.5, 1] as const;
const COLD_ROUNDS = 3;
/** Each rate is offered so often, all rates one after another each time: a busy moment does not hit one rate alone. */
const OFFERED_ROUNDS = 3;

const FLAT_OUT = {
  kind: "singles",
  traffic: { kind: "warm" },
  connections: CONNECTIONS_BEST,
  ratePerSecond: null,
  spin: true,
  rounds: 1,
  roundMs: 1000,
} as const satisfies Omit<SinglesJob, "aims">;

/** What was found with one number of connections. */
type FlatOut = {
  readonly connections: number;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  readonly ratioRange: RoundRange;
  readonly driverBusy: number;
  readonly figures: readonly Figure[];
};

/** Warm single checks without a pause, by turns with a bare server that writes the same reply. */
export async function measureSinglesFlatOut(
  bench: Bench,
): Promise<Findings & { readonly perSecond: number }> {
  const reply = await replyToCopy(bench.server);
  await using bare = await startFile("bench/load/bare-server.ts", {}, { argument: JSON.stringify(reply) });
  const url = /listens on (http\S+)/.exec(bare.line)?.[1] ?? "";
  const aims = [bench.server, { url, key: bench.server.key }];
  await drive({ ...FLAT_OUT, aims, roundMs: Math.max(WARMUP_MS_MIN, bench.ms(WARMUP_MS)) });
  const found: FlatOut[] = [];
  for (const { connections } of CONNECTIONS) found.push(await flatOutWith(bench, aims, connections));
  const best = found.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
  const syncMs = await measureSyncMs();
  const targets = found.map(({ connections, ratio, ratioRange, perSecond, barePerSecond, driverBusy }, at) =>
    judgeTarget({
      what: `single verify, warm, authenticated, metered to disk, ${connections} connections`,
      against: "a bare `Bun.serve` route writing the same reply",
      bound: { atLeast: CONNECTIONS[at]?.atLeast ?? 0 },
      measured: ratio,
      note: [
        `${ratioRange.least.toFixed(2)} to ${ratioRange.most.toFixed(2)} in ${ratioRange.rounds} rounds`,
        `${thousands(perSecond)} against ${thousands(barePerSecond)} a second`,
        `an fdatasync takes ${syncMs.toFixed(2)} ms, in which all connections once would be ${thousands((connections / syncMs) * 1000)} a second`,
        `the driver was busy for ${Math.round(driverBusy * 100)} % of a core`,
      ].join("; "),
    }),
  );
  const byWrk = await measureByWrk(bench, aims);
  return {
    perSecond: best.perSecond,
    figures: [...found.flatMap(({ figures }) => figures), ...byWrk.figures],
    targets: [...targets, ...byWrk.targets],
  };
}

/** The same by another driver at the same connections, by turns with ours. */
async function measureByWrk({ rounds }: Bench, aims: readonly Aim[]): Promise<Findings> {
  using wrk = openWrk(warmPaths());
  if (wrk === null) return { figures: [], targets: [] };
  const names = ["single verify, warm", "bare Bun.serve, the same reply"];
  const found = names.map(() => ({ ours: [] as number[], wrk: [] as number[] }));
  const job = { ...FLAT_OUT, connections: WRK_CONNECTIONS, roundMs: 1000 };
  for (let round = 0; round < rounds(5); round += 1) {
    for (const [at, aim] of aims.entries()) {
      const { aims: driven } = await drive({ ...job, aims: [aim] });
      found[at]?.ours.push(...driven.flat().map(({ perSecond }) => perSecond));
      found[at]?.wrk.push(await wrk.perSecond(aim, WRK_CONNECTIONS, 1));
    }
  }
  const figures = found.map(
    ({ wrk: perSeconds }, at): Figure => ({
      name: `${names[at]}, by wrk, ${WRK_CONNECTIONS} connections`,
      group: SINGLES_GROUP,
      unit: "checks/s",
      better: "neither",
      ...overRounds(perSeconds),
    }),
  );
  const targets = found.map(({ ours, wrk: perSeconds }, at) => {
    const ratio = medianRatio(ours, perSeconds);
    return judgeTarget({
      what: `our driver against wrk: ${names[at]}, ${WRK_CONNECTIONS} connections`,
      against: "wrk, by turns",
      bound: { atMost: WRK_APART_MAX },
      unit: "apart",
      measured: Math.abs(ratio - 1),
      note: `ours finds ${ratio.toFixed(2)} of what wrk finds, ${thousands(median(ours))} against ${thousands(median(perSeconds))} a second`,
    });
  });
  return { figures, targets };
}

const thousands = (value: number) => Math.round(value).toLocaleString("en");

async function flatOutWith(
  { server, ms, rounds }: Bench,
  aims: readonly Aim[],
  connections: number,
): Promise<FlatOut> {
  // Many short rounds: the bare server has a quick and a slow way of running, and changes between them.
  const job = { ...FLAT_OUT, aims, connections, rounds: rounds(7), roundMs: ms(1200) };
  const { result, spent } = await spending(server, () => drive(job));
  const [ours = [], bare = []] = result.aims;
  requireRight([...ours, ...bare]);
  const perSecond = medianOf(ours, (round) => round.perSecond);
  const ratios = overRounds(ours.map((round, at) => round.perSecond / (bare[at]?.perSecond ?? Number.NaN)));
  const checks = (perSecond * job.roundMs * job.rounds) / 1000;
  const name = connections === CONNECTIONS_BEST ? "" : `, ${connections} connections`;
  return {
    connections,
    perSecond,
    barePerSecond: medianOf(bare, (round) => round.perSecond),
    ratio: ratios.value,
    ratioRange: ratios.range,
    driverBusy: medianOf(bare, (round) => round.driverBusy),
    figures: [
      ...singleFigures(`single verify, warm, flat out${name}`, ours, spent, checks),
      ...singleFigures(`bare Bun.serve, the same reply, flat out${name}`, bare, null, 0),
    ],
  };
}

/** Latency under loads that arrive on a fixed schedule, from a tenth of what the server can do to all of it. */
export async function measureOfferedLoad(
  { server, ms, options }: Bench,
  flatOutPerSecond: number,
): Promise<Findings> {
  const roundMs = ms(1500);
  const points = (options.quick ? SHARES_QUICK : SHARES).map((share) => ({
    share,
    ratePerSecond: Math.max(1, Math.round(flatOutPerSecond * share)),
    rounds: [] as SinglesRound[],
    spent: [] as Spent[],
  }));
  for (let round = 0; round < OFFERED_ROUNDS; round += 1) {
    for (const { ratePerSecond, rounds, spent: all } of points) {
      const job = { ...FLAT_OUT, aims: [server], ratePerSecond, roundMs };
      const { result, spent } = await spending(server, () => drive(job));
      rounds.push(...result.aims.flat());
      all.push(spent);
    }
  }
  const figures = points.flatMap(({ share, ratePerSecond, rounds, spent }) => {
    const name = `single verify, warm, ${Math.round(share * 100)} % of flat out offered`;
    const at = { plot: "offered", share, offeredPerSecond: ratePerSecond };
    return singleFigures(name, rounds, totalOf(spent), (ratePerSecond * roundMs * rounds.length) / 1000, at);
  });
  return { figures, targets: [] };
}

function totalOf(spent: readonly Spent[]): Spent {
  const sum = (pick: (one: Spent) => number | null) =>
    spent.reduce<number | null>((total, one) => {
      const value = pick(one);
      return total === null || value === null ? null : total + value;
    }, 0);
  return {
    cpuSeconds: sum((one) => one.cpuSeconds),
    mainThreadSeconds: sum((one) => one.mainThreadSeconds),
    loopLagP99Ms: median(spent.map(({ loopLagP99Ms }) => loopLagP99Ms)),
    loopLagMaxMs: Math.max(...spent.map(({ loopLagMaxMs }) => loopLagMaxMs)),
  };
}

/** Single checks of domains that nobody asked for before: flat out, and on a schedule at half of that. */
export async function measureColdSingles({ server, ms }: Bench): Promise<Findings> {
  const figures: Figure[] = [];
  let ratePerSecond: number | null = null;
  for (const [name, roundMs] of [
    ["flat out", ms(3000)],
    ["half of flat out offered", ms(3000)],
  ] as const) {
    const traffic = { kind: "cold", run: `single${figures.length}` } as const;
    const { result, spent } = await spending(server, () =>
      drive({
        ...FLAT_OUT,
        aims: [server],
        traffic,
        ratePerSecond,
        rounds: COLD_ROUNDS,
        roundMs: roundMs / COLD_ROUNDS,
      }),
    );
    const [rounds = []] = result.aims;
    requireRight(rounds);
    const perSecond = medianOf(rounds, (round) => round.perSecond);
    figures.push(
      ...singleFigures(`single verify, cold, ${name}`, rounds, spent, (perSecond * roundMs) / 1000),
    );
    ratePerSecond = Math.max(1, Math.round(perSecond / 2));
  }
  return { figures, targets: [] };
}

/** Everything at once: checks of every kind on a schedule, and batches of a thousand one after the other. */
export async function measureMixed({ server, ms }: Bench, flatOutPerSecond: number): Promise<Findings> {
  const ratePerSecond = Math.max(1, Math.round(flatOutPerSecond * 0.2));
  const roundMs = ms(6000);
  const { result, spent } = await spending(server, () =>
    Promise.all([
      drive({
        ...FLAT_OUT,
        aims: [server],
        traffic: { kind: "mixed", run: "mixed" },
        ratePerSecond,
        roundMs,
        spin: false,
      }),
      drive({ kind: "batches", aims: [server], size: 1000, parallel: 1, rounds: 1, roundMs, cold: null }),
    ]),
  );
  const [singles, batches] = result;
  const [rounds = []] = singles.aims;
  requireRight(rounds);
  const batchRounds = batches.aims[0] ?? [];
  const perSecond = medianOf(rounds, (round) => round.perSecond);
  const batched = medianOf(batchRounds, (round) => round.addressesPerSecond);
  const name = "mixed traffic: 20 % of flat out offered, beside batches of 1,000";
  return {
    figures: [
      ...singleFigures(name, rounds, spent, ((perSecond + batched) * roundMs) / 1000),
      {
        name: `${name}: the batches`,
        group: "mixed traffic (p50, p99: ms)",
        unit: "addresses/s",
        better: "higher",
        value: batched,
        p50: medianOf(batchRounds, ({ latency }) => latency.p50),
        p99: medianOf(batchRounds, ({ latency }) => latency.p99),
      },
    ],
    targets: [],
  };
}

/** Replies must be right and none may be missing, else the figures are of something else. */
function requireRight(rounds: readonly SinglesRound[]): void {
  for (const { wrong, lost } of rounds) {
    if (wrong > 0 || lost > 0) throw new Error(`${wrong} replies were not 200, ${lost} never came`);
  }
}

function singleFigures(
  name: string,
  rounds: readonly SinglesRound[],
  spent: Spent | null,
  checks: number,
  at?: NonNullable<Figure["at"]>,
): Figure[] {
  const throughput: Figure = {
    name,
    group: SINGLES_GROUP,
    unit: "checks/s",
    better: at === undefined ? "higher" : "neither",
    ...overRounds(rounds.map((round) => round.perSecond)),
    p50: medianOf(rounds, ({ latency }) => latency.p50),
    p99: medianOf(rounds, ({ latency }) => latency.p99),
    ...(at === undefined ? {} : { at, spread: spreadOf(rounds) }),
  };
  return spent === null ? [throughput] : [throughput, ...costFigures(name, spent, checks)];
}

function spreadOf(rounds: readonly SinglesRound[]): NonNullable<Figure["spread"]> {
  const range = (pick: (round: SinglesRound) => number): readonly [number, number] => {
    const values = rounds.map(pick);
    return [Math.min(...values), Math.max(...values)];
  };
  return {
    rounds: rounds.length,
    p50: range(({ latency }) => latency.p50),
    p99: range(({ latency }) => latency.p99),
  };
}

/** What a scenario cost the server: CPU and the lag of its event loop. */
export function costFigures(name: string, spent: Spent, checks: number): Figure[] {
  const group = "cost";
  const lag: Figure = {
    name: `${name}: lag of the event loop`,
    group,
    unit: "ms at most",
    better: "neither",
    value: spent.loopLagMaxMs,
    p99: spent.loopLagP99Ms,
  };
  const { cpuSeconds, mainThreadSeconds } = spent;
  if (cpuSeconds === null || mainThreadSeconds === null) return [lag];
  const perThousand = (seconds: number) => (seconds * 1_000_000) / checks;
  return [
    {
      name: `${name}: CPU`,
      group,
      unit: "ms per 1,000 checks",
      better: "lower",
      value: perThousand(cpuSeconds),
    },
    {
      name: `${name}: CPU of the main thread`,
      group,
      unit: "ms per 1,000 checks",
      better: "lower",
      value: perThousand(mainThreadSeconds),
    },
    lag,
  ];
}
