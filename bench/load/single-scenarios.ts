import { type Figure, median } from "../result.ts";
import { FLAT_OUT } from "./flat-out-scenario.ts";
import type { SinglesRound } from "./jobs.ts";
import { drive } from "./processes.ts";
import { type Spent, spending } from "./readings.ts";
import { type Bench, type Findings, medianOf } from "./scenarios.ts";
import { requireRight, singleFigures } from "./single-figures.ts";

/** Offered rates as shares of what the server does flat out. */
export const SHARES = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1] as const;
const SHARES_QUICK = [0.25, 0.5, 1] as const;
const COLD_ROUNDS = 3;
/** How often each rate is offered, all rates one after another each time: a busy moment does not hit one rate alone. */
const OFFERED_ROUNDS = 3;

/** Latency under loads that arrive on a fixed schedule, from a tenth of what the server can do to all of it. */
export async function measureOfferedLoad(
  { server, ms, rounds: roundsOf, options }: Bench,
  flatOutPerSecond: number,
): Promise<Findings> {
  const roundMs = ms(1500);
  const points = (options.quick ? SHARES_QUICK : SHARES).map((share) => ({
    share,
    ratePerSecond: Math.max(1, Math.round(flatOutPerSecond * share)),
    rounds: [] as SinglesRound[],
    spent: [] as Spent[],
  }));
  for (let round = 0; round < roundsOf(OFFERED_ROUNDS); round += 1) {
    for (const { ratePerSecond, rounds, spent: all } of points) {
      const job = { ...FLAT_OUT, aims: [server], ratePerSecond, roundMs };
      const { result, spent } = await spending(server, () => drive(job));
      requireRight(result.aims.flat());
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
