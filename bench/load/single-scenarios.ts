import { type Figure, judgeTarget } from "../result.ts";
import type { Aim, SinglesJob, SinglesRound } from "./jobs.ts";
import { drive, startFile } from "./processes.ts";
import { replyToCopy } from "./proof.ts";
import { type Spent, spending } from "./readings.ts";
import { type Bench, type Findings, medianOf, medianRatio } from "./scenarios.ts";

/** Few callers and many: the more calls are under way, the more of them share a commit. */
const CONNECTIONS = [64, 256] as const;
const CONNECTIONS_BEST = 256;
/** Code that is not yet compiled runs at a third of its speed. */
const WARMUP_MS = 2500;
const WARMUP_MS_MIN = 500;
/** Offered rates as shares of what the server does flat out. */
const SHARES = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1] as const;
const SHARES_QUICK = [0.25, 0.5, 1] as const;

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
  readonly driverBusy: number;
  readonly figures: readonly Figure[];
};

/** Warm single checks without a pause, by turns with a bare server that writes the same reply. */
export async function measureSinglesFlatOut(
  bench: Bench,
): Promise<Findings & { readonly perSecond: number }> {
  const reply = await replyToCopy(bench.server);
  await using bare = await startFile("bench/load/bare-server.ts", {}, JSON.stringify(reply));
  const url = /listens on (http\S+)/.exec(bare.line)?.[1] ?? "";
  const aims = [bench.server, { url, key: bench.server.key }];
  await drive({ ...FLAT_OUT, aims, roundMs: Math.max(WARMUP_MS_MIN, bench.ms(WARMUP_MS)) });
  const found: FlatOut[] = [];
  for (const connections of CONNECTIONS) found.push(await flatOutWith(bench, aims, connections));
  const best = found.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
  const ratios = found.map(
    ({ connections, ratio, perSecond, barePerSecond }) =>
      `${connections} connections: ${ratio.toFixed(2)}, ${Math.round(perSecond).toLocaleString("en")} against ${Math.round(barePerSecond).toLocaleString("en")} a second`,
  );
  return {
    perSecond: best.perSecond,
    figures: found.flatMap(({ figures }) => figures),
    targets: [
      judgeTarget({
        what: "single verify, warm, authenticated, metered to disk",
        against: "a bare `Bun.serve` route writing the same reply",
        bound: { atLeast: 0.45 },
        measured: best.ratio,
        note: `${ratios.join("; ")}; the driver was busy for ${Math.round(best.driverBusy * 100)} % of a core`,
      }),
    ],
  };
}

async function flatOutWith(
  { server, ms, rounds }: Bench,
  aims: readonly Aim[],
  connections: number,
): Promise<FlatOut> {
  // Many short rounds: the bare server has a quick and a slow way of running, and changes between them.
  const job = { ...FLAT_OUT, aims, connections, rounds: rounds(9), roundMs: ms(1200) };
  const { result, spent } = await spending(server, () => drive(job));
  const [ours = [], bare = []] = result.aims;
  requireRight([...ours, ...bare]);
  const perSecond = medianOf(ours, (round) => round.perSecond);
  const checks = (perSecond * job.roundMs * job.rounds) / 1000;
  const name = connections === CONNECTIONS_BEST ? "" : `, ${connections} connections`;
  return {
    connections,
    perSecond,
    barePerSecond: medianOf(bare, (round) => round.perSecond),
    ratio: medianRatio(
      ours.map((round) => round.perSecond),
      bare.map((round) => round.perSecond),
    ),
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
  const figures: Figure[] = [];
  for (const share of options.quick ? SHARES_QUICK : SHARES) {
    const ratePerSecond = Math.max(1, Math.round(flatOutPerSecond * share));
    const { result, spent } = await spending(server, () =>
      drive({ ...FLAT_OUT, aims: [server], ratePerSecond, roundMs: ms(4000) }),
    );
    const [rounds = []] = result.aims;
    const name = `single verify, warm, ${Math.round(share * 100)} % of flat out offered`;
    const at = {
      share,
      offeredPerSecond: ratePerSecond,
      p99: medianOf(rounds, ({ latency }) => latency.p99),
    };
    figures.push(
      ...singleFigures(name, rounds, spent, (ratePerSecond * ms(4000)) / 1000, { plot: "offered", ...at }),
    );
  }
  return { figures, targets: [] };
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
      drive({ ...FLAT_OUT, aims: [server], traffic, ratePerSecond, roundMs }),
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
    group: "single checks (p50, p99: ms, from the moment that the schedule sets)",
    unit: "checks/s",
    better: at === undefined ? "higher" : "neither",
    value: medianOf(rounds, (round) => round.perSecond),
    p50: medianOf(rounds, ({ latency }) => latency.p50),
    p99: medianOf(rounds, ({ latency }) => latency.p99),
    ...(at === undefined ? {} : { at }),
  };
  return spent === null ? [throughput] : [throughput, ...costFigures(name, spent, checks)];
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
