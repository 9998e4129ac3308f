import { parseArgs } from "node:util";
import type { ClusterResult } from "../cluster/result.ts";
import { machineLine, readMachine } from "../machine.ts";
import { measurePipeline } from "../pipeline.ts";
import { tableText } from "../print.ts";
import type { Figure, SuiteResult } from "../result.ts";
import { costsFrom } from "./costs.ts";
import { INPUTS, readDemand } from "./demand.ts";
import { nodePlanFor, nodeRows } from "./nodes.ts";
import { planFor } from "./plan.ts";
import { reportHtml } from "./report.ts";
import { demandRows, planRows } from "./rows.ts";

// Turns a result of the load suite into a plan for a stated load: printed, as JSON, and as a page with plots.

const OPTIONS = INPUTS.map(
  ({ option, label, unit, initial }) =>
    `  ${`--${option} ${unit === "%" ? "SHARE" : "NUMBER"}`.padEnd(28)}${label.toLowerCase()}${unit === "%" ? ", 0 to 1" : ""} (${initial})`,
);
const HELP = `bun run bench:capacity [OPTION VALUE]...

Turns the last result of bench:load into a plan for a load: cores, memory, head-room, network, disk, cost. Prints it, and
writes it as JSON and as a page with plots, where each number can be changed.

${OPTIONS.join("\n")}
  --load FILE                 the result of bench:load (bench/results/load.json)
  --bench FILE                the result of bench (bench/results/bench.json)
  --cluster FILE              the result of bench:cluster (bench/results/cluster.json): plans nodes, too
  --json FILE                 where the plan goes (dist/capacity.json)
  --html FILE                 where the page goes (dist/capacity.html)
`;

const { values } = parseArgs({
  options: {
    ...Object.fromEntries(INPUTS.map(({ option }) => [option, { type: "string" } as const])),
    load: { type: "string", default: "bench/results/load.json" },
    bench: { type: "string", default: "bench/results/bench.json" },
    cluster: { type: "string", default: "bench/results/cluster.json" },
    json: { type: "string", default: "dist/capacity.json" },
    html: { type: "string", default: "dist/capacity.html" },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const load = await readResult(values.load);
if (load === null) {
  say(`There is no ${values.load}. First: bun run bench:load --json ${values.load}`);
  process.exit(1);
}
const texts = Object.entries(values).map(([option, value]) => [option, `${value}`]);
const demand = readDemand(Object.fromEntries(texts), "command line");
if ("wrong" in demand) {
  for (const { option, message } of demand.wrong) say(`--${option} ${message}.`);
  process.exit(1);
}
const { pipeline, pipelineMachine } = await pipelineFigures();
const costs = costsFrom(load);
const plan = planFor(demand, costs);
say(tableText(["what has to be carried", ""], demandRows(demand)));
const cluster = await readJson<ClusterResult>(values.cluster);
if (cluster === null) {
  say(
    `There is no ${values.cluster}, so no nodes are planned. First: bun run bench:cluster --json ${values.cluster}`,
  );
}
const nodes = cluster === null ? null : nodePlanFor(demand, plan, costs, cluster);
const rowsOfNodes = cluster === null || nodes === null ? [] : nodeRows(nodes, cluster);
say(`\n${tableText(["what it takes", ""], [...planRows(demand, plan), ...rowsOfNodes])}`);
const summary = { demand, plan, nodes, costs, load: summaryOf(load) };
await Bun.write(values.json, `${JSON.stringify(summary, null, 2)}\n`);
await Bun.write(values.html, await reportHtml({ demand, load, pipeline, pipelineMachine, rowsOfNodes }));
say(`\n${values.html}\n${values.json}`);

/** Those of the last run of the suite, or measured now: that takes half a minute. */
async function pipelineFigures(): Promise<{ pipeline: readonly Figure[]; pipelineMachine: string }> {
  const bench = await readResult(values.bench);
  const pipeline = bench?.figures.filter(({ at }) => at?.payload !== undefined) ?? [];
  if (bench !== null && pipeline.length > 0) return { pipeline, pipelineMachine: machineLine(bench.machine) };
  say(`There is no ${values.bench}: measuring the pipeline`);
  const machine = machineLine(await readMachine());
  return { pipeline: await measurePipeline(values.quick ? 0.1 : 1), pipelineMachine: machine };
}

function readResult(path: string): Promise<SuiteResult | null> {
  return readJson<SuiteResult>(path);
}

async function readJson<Result>(path: string): Promise<Result | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? await file.json() : null;
}

function summaryOf({ at, quick, machine }: SuiteResult): Pick<SuiteResult, "at" | "quick" | "machine"> {
  return { at, quick, machine };
}
