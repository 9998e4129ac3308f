import { shown, tableText } from "../print.ts";
import { median } from "../result.ts";
import { type BalancerFigures, type ClusterFigures, KINDS, type Kind } from "./result.ts";

type Subjects = {
  readonly embedded: ClusterFigures;
  readonly one: ClusterFigures;
  readonly several: ClusterFigures;
};

/** Of what was measured. */
type Sizes = { readonly nodes: number; readonly batchSize: number; readonly jobRows: number };

/** Prints what the embedded store, one node and several nodes did, of each kind. */
export function printKinds({ embedded, one, several }: Subjects, { nodes, batchSize, jobRows }: Sizes): void {
  const names: { readonly [kind in Kind]: string } = {
    single: "single checks",
    batch: `rows of batches of ${shown(batchSize)}`,
    job: `rows of a job of ${shown(jobRows)}`,
  };
  const subjects: readonly (readonly [string, ClusterFigures])[] = [
    ["embedded store", embedded],
    ["one node", one],
    [`${nodes} nodes, in sum`, several],
  ];
  const rows = KINDS.flatMap((kind) =>
    subjects.map(([name, figures]) => {
      const { perSecond, rounds, nodesCpu, postgresCpu } = figures[kind];
      const shareOf = (other: ClusterFigures) =>
        shown(median(rounds.map((rate, round) => rate / (other[kind].rounds[round] ?? 0))));
      return [
        names[kind],
        name,
        shown(perSecond),
        `${shown(Math.min(...rounds))}–${shown(Math.max(...rounds))}`,
        shareOf(embedded),
        figures === embedded ? "" : shareOf(one),
        shown(nodesCpu),
        figures === embedded ? "" : shown(postgresCpu),
      ];
    }),
  );
  const head = [
    "what",
    "by",
    "a second",
    "lowest–highest",
    "of embedded",
    "of one node",
    "CPU µs each: servers",
    "PostgreSQL",
  ];
  console.log(tableText(head, rows));
}

/** Prints what went through the balancer. */
export function printBalancer(figures: BalancerFigures): void {
  const { capacitiesPerSecond, p99Ms, diskMs, besideJob, flatOutBesideJob } = figures;
  const listed = (values: readonly number[]) => values.map(shown).join(", ");
  const middle = (values: readonly number[]) => shown(median(values));
  console.log(
    `single checks through the balancer: ${listed(capacitiesPerSecond)} a second flat out, by turns
at half of that: p99 ${middle(p99Ms)} ms; of each round ${listed(p99Ms)}; the longest wait for the disk ${listed(diskMs)}
and beside a job (${shown(besideJob.rowsPerSecond)} rows a second): p50 ${middle(besideJob.p50Ms)} ms, p99 ${middle(besideJob.p99Ms)} ms; of each round ${listed(besideJob.p99Ms)}; the longest wait for the disk ${listed(besideJob.diskMs)}; ${besideJob.wrongOrLost} wrong or lost
flat out beside a job: ${shown(flatOutBesideJob.perSecond)} a second and ${shown(flatOutBesideJob.rowsPerSecond)} rows a second`,
  );
}
