import { nounOf } from "../../src/contract/noun.ts";
import { type ClusterResult, KINDS, type Kind, predictedPerSecond } from "../cluster/result.ts";
import { machineLine } from "../machine.ts";
import { shown } from "../print.ts";
import { batchCostOf, type Costs, type Cpu } from "./costs.ts";
import type { Demand } from "./demand.ts";
import { type Plan, planFor, ratesAtPeak } from "./plan.ts";
import type { Row } from "./rows.ts";

/** The same demand, carried by nodes on a PostgreSQL. */
export type NodePlan = {
  /** CPU seconds that the busiest second takes at the nodes, and at PostgreSQL. */
  readonly nodeCoresBusy: number;
  readonly postgresCoresBusy: number;
  /** Of as many cores as the measured machine has; two at least, so that one may end. */
  readonly nodes: number;
  readonly coresPerNode: number;
  readonly postgresCores: number;
};

const NODES_MIN = 2;
const NAMES: { readonly [kind in Kind]: string } = {
  single: "single checks",
  batch: "rows of batches",
  job: "rows of jobs",
};

/**
 * Returns nodes and the cores of PostgreSQL for a demand, filled as far as the plan for one machine. What an item costs
 * them is what the load result says of the server with the embedded store, times what a node or PostgreSQL takes of that
 * server's in the cluster's result: the two may be of different machines.
 */
export function nodePlanFor(
  demand: Demand,
  { fillMax }: Pick<Plan, "fillMax">,
  costs: Costs,
  cluster: ClusterResult,
): NodePlan {
  const { cores } = cluster.machine;
  const nodeCoresBusy = planFor(demand, costsOfNode(costs, cluster)).coresBusyAtPeak;
  const postgresCoresBusy = postgresCoresFor(demand, costs, cluster);
  return {
    nodeCoresBusy,
    postgresCoresBusy,
    nodes: Math.max(NODES_MIN, Math.ceil(nodeCoresBusy / fillMax / cores)),
    coresPerNode: cores,
    postgresCores: Math.max(1, Math.ceil(postgresCoresBusy / fillMax)),
  };
}

/** Documents and phone numbers are taken for rows of batches; a look-up costs a node what it costs that server. */
function costsOfNode(costs: Costs, { one, embedded }: ClusterResult): Costs {
  const times = ({ all, mainThread }: Cpu, kind: Kind): Cpu => {
    const share = one[kind].nodesCpu / embedded[kind].nodesCpu;
    return { all: all * share, mainThread: mainThread * share };
  };
  const { single, batches, more } = costs;
  return {
    ...costs,
    single: times(single, "single"),
    batches: batches.map((batch) => ({ ...batch, cpu: times(batch.cpu, "batch") })),
    more: more && {
      ...more,
      document: times(more.document, "batch"),
      phone: times(more.phone, "batch"),
      jobRow: times(more.jobRow, "job"),
    },
  };
}

function postgresCoresFor(demand: Demand, costs: Costs, { one, embedded }: ClusterResult): number {
  const embeddedCpu: { readonly [kind in Kind]: number | undefined } = {
    single: costs.single.all,
    batch: batchCostOf(costs, demand.batchSize).cpu.all,
    job: costs.more?.jobRow.all,
  };
  const { single, batch, document, phone, job } = ratesAtPeak(demand);
  const perSecond: { readonly [kind in Kind]: number } = { single, batch: batch + document + phone, job };
  return KINDS.reduce((sum, kind) => {
    const scale = (embeddedCpu[kind] ?? embedded[kind].nodesCpu) / embedded[kind].nodesCpu;
    return sum + (perSecond[kind] * one[kind].postgresCpu * scale) / 1e6;
  }, 0);
}

export function nodeRows(plan: NodePlan, cluster: ClusterResult): Row[] {
  const { nodes, coresPerNode, nodeCoresBusy, postgresCores, postgresCoresBusy } = plan;
  return [
    [
      `As a cluster: nodes of ${coresPerNode} ${nounOf(coresPerNode, "core")}`,
      `${nodes} (${shown(nodeCoresBusy)} cores busy in the busiest second)`,
    ],
    ["As a cluster: cores of PostgreSQL", `${postgresCores} (${shown(postgresCoresBusy)} busy)`],
    ["As a cluster: measured on", `${machineLine(cluster.machine)}, on ${cluster.at.slice(0, 10)}`],
    ...KINDS.map((kind): Row => {
      const { perSecond } = cluster.several[kind];
      const predicted = predictedPerSecond(cluster, kind);
      return [
        `${cluster.nodes} nodes on the cores of one: ${NAMES[kind]} a second`,
        `${shown(perSecond)} measured, ${shown(predicted)} predicted (${shown(perSecond / predicted)})`,
      ];
    }),
  ];
}
