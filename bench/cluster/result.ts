import type { Machine } from "../machine.ts";

/** What single checks, rows of batches or rows of jobs came to, by one node or by several. */
export type ClusterFigure = {
  readonly perSecond: number;
  /** Microseconds of CPU for each, of all nodes, and of PostgreSQL. */
  readonly nodesCpu: number;
  readonly postgresCpu: number;
};

export const KINDS = ["single", "batch", "job"] as const;
export type Kind = (typeof KINDS)[number];
export type ClusterFigures = { readonly [kind in Kind]: ClusterFigure };

/** A result of bench:cluster. */
export type ClusterResult = {
  readonly at: string;
  readonly machine: Machine;
  readonly nodes: number;
  readonly one: ClusterFigures;
  /** In sum, on the same cores. */
  readonly several: ClusterFigures;
};

/**
 * Returns what several nodes are planned to do in sum on the cores of one: as much, as an item costs what it costs on one.
 * That is what a plan of nodes rests on.
 */
export function predictedPerSecond({ one }: Pick<ClusterResult, "one">, kind: Kind): number {
  return one[kind].perSecond;
}
