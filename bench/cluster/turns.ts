import type { Aim } from "../load/jobs.ts";
import { median } from "../result.ts";
import { createCpuMeter } from "./cpu-meter.ts";
import type { Measures } from "./measures.ts";
import { type ClusterFigure, type ClusterFigures, KINDS, type Kind } from "./result.ts";

/** Servers that are measured as one. */
type Servers = readonly (Aim & { readonly pid: number })[];
type Round = Omit<ClusterFigure, "rounds">;

/** The orders in which three are measured: in all six each comes as often behind either other, and never behind itself. */
export const ORDERS = [
  [0, 1, 2],
  [1, 0, 2],
  [0, 2, 1],
  [2, 1, 0],
  [1, 2, 0],
  [2, 0, 1],
] as const;

export type Turns = {
  /** Measures three groups of servers by turns, so that a busy moment of the machine hits them all alike. */
  readonly add: (groups: readonly [Servers, Servers, Servers]) => Promise<void>;
  /** Returns what was found of each group, over all that was added. */
  readonly figures: () => readonly [ClusterFigures, ClusterFigures, ClusterFigures];
};

/**
 * Each `add` has `warmups` rounds that do not count for each server of a group, as each of several gets its part of a round
 * only; then one in each of the first `orders` of the orders.
 */
export function createTurns(
  measures: Measures,
  postgresPort: number,
  { warmups, orders }: { readonly warmups: number; readonly orders: number },
): Turns {
  const found = [roundsByKind(), roundsByKind(), roundsByKind()] as const;

  async function measure(kind: Kind, servers: Servers): Promise<Round> {
    const pids = servers.map(({ pid }) => pid);
    const meter = createCpuMeter(pids, postgresPort);
    const { perSecond, items } = await measures[kind](servers);
    const cpu = meter.perItem(items);
    return { perSecond, nodesCpu: cpu.servers, postgresCpu: cpu.postgres };
  }

  return {
    async add(groups) {
      for (const kind of KINDS) {
        for (const servers of groups) {
          for (let round = 0; round < warmups * servers.length; round += 1) await measures[kind](servers);
        }
        for (const order of ORDERS.slice(0, orders)) {
          for (const which of order) found[which][kind].push(await measure(kind, groups[which]));
        }
      }
    },
    figures: () => [figuresOf(found[0]), figuresOf(found[1]), figuresOf(found[2])],
  };
}

type RoundsByKind = { readonly [kind in Kind]: Round[] };

function roundsByKind(): RoundsByKind {
  return { single: [], batch: [], job: [] };
}

function figuresOf({ single, batch, job }: RoundsByKind): ClusterFigures {
  return { single: figureOf(single), batch: figureOf(batch), job: figureOf(job) };
}

function figureOf(rounds: readonly Round[]): ClusterFigure {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    rounds: rounds.map(({ perSecond }) => perSecond),
    nodesCpu: median(rounds.map(({ nodesCpu }) => nodesCpu)),
    postgresCpu: median(rounds.map(({ postgresCpu }) => postgresCpu)),
  };
}
