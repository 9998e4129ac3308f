import type { Machine } from "../machine.ts";

/** What single checks, rows of batches or rows of jobs came to, by one node or by several. */
export type ClusterFigure = {
  readonly perSecond: number;
  /** Round by round; the figure above is their median. */
  readonly rounds: readonly number[];
  /** Microseconds of CPU for each, of all nodes, and of PostgreSQL. */
  readonly nodesCpu: number;
  readonly postgresCpu: number;
};

export const KINDS = ["single", "batch", "job"] as const;
export type Kind = (typeof KINDS)[number];
export type ClusterFigures = { readonly [kind in Kind]: ClusterFigure };

/** Single checks through a balancer in front of all nodes, round by round where a figure is a list. */
export type BalancerFigures = {
  /** What goes through it flat out, nothing beside it, turn by turn. */
  readonly capacitiesPerSecond: readonly number[];
  /** At half of what its turn had flat out: alone, with the job paused, */
  readonly p99Ms: readonly number[];
  /** with the longest that a small write beside them waited for the disk; a call waits for its charge to be on it; */
  readonly diskMs: readonly number[];
  /** and while it runs, with what it does meanwhile. */
  readonly besideJob: {
    readonly p50Ms: readonly number[];
    readonly p99Ms: readonly number[];
    readonly diskMs: readonly number[];
    readonly rowsPerSecond: number;
    readonly wrongOrLost: number;
  };
  /** Calls without a pause while a job runs: neither shuts the other out. */
  readonly flatOutBesideJob: { readonly perSecond: number; readonly rowsPerSecond: number };
};

/** A result of bench:cluster. */
export type ClusterResult = {
  readonly at: string;
  readonly machine: Machine;
  readonly nodes: number;
  /** The store of one server, on the same machine in the same run. */
  readonly embedded: ClusterFigures;
  readonly one: ClusterFigures;
  /** In sum, on the same cores. */
  readonly several: ClusterFigures;
  readonly balancer: BalancerFigures;
};

/**
 * Returns what several nodes are planned to do in sum on the cores of one: as much, as an item costs what it costs on one.
 * That is what a plan of nodes rests on.
 */
export function predictedPerSecond({ one }: Pick<ClusterResult, "one">, kind: Kind): number {
  return one[kind].perSecond;
}
