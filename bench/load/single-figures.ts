import { type Figure, overRounds } from "../result.ts";
import type { SinglesRound } from "./jobs.ts";
import type { Spent } from "./readings.ts";
import { medianOf } from "./scenarios.ts";

export const SINGLES_GROUP = "single checks (p50, p99: ms, from the moment that the schedule sets)";

/** Replies must be right and none may be missing, else the figures are of something else. */
export function requireRight(rounds: readonly SinglesRound[]): void {
  for (const { wrong, lost } of rounds) {
    if (wrong > 0 || lost > 0) throw new Error(`${wrong} replies were not 200, ${lost} never came`);
  }
}

/** Returns the figure of some rounds, with what they cost the server where that is known. */
export function singleFigures(
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
