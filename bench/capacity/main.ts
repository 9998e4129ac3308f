import { parseArgs } from "node:util";
import { machineLine, readMachine } from "../machine.ts";
import { measurePipeline } from "../pipeline.ts";
import { tableText } from "../print.ts";
import type { Figure, SuiteResult } from "../result.ts";
import { costsFrom, type Demand, planFor } from "./plan.ts";
import { demandRows, planRows, reportHtml } from "./report.ts";

// Turns a result of the load suite into a plan for a stated load: printed, as JSON, and as a page with plots.

const HELP = `bun run bench:capacity [OPTION VALUE]...

Turns the last result of bench:load into a plan for a load: cores, memory, head-room, cost. Prints it, and writes it
as JSON and as a page with plots.

  --addresses-per-day COUNT   addresses on a day (200000000)
  --peak-factor FACTOR        the busiest hour against the mean (4)
  --cold-share SHARE          addresses whose domain is not in the cache, 0 to 1 (0.05)
  --single-share SHARE        addresses that come one at a time, 0 to 1 (0.2)
  --batch-size COUNT          addresses in a batch (10000)
  --p99-ms MS                 what a single check may take at the 99th percentile (40)
  --core-hour-usd USD         price of a core for an hour (0.05)
  --load FILE                 the result of bench:load (bench/results/load.json)
  --bench FILE                the result of bench (bench/results/bench.json)
  --json FILE                 where the plan goes (dist/capacity.json)
  --html FILE                 where the page goes (dist/capacity.html)
`;

const { values } = parseArgs({
  options: {
    load: { type: "string", default: "bench/results/load.json" },
    bench: { type: "string", default: "bench/results/bench.json" },
    json: { type: "string", default: "dist/capacity.json" },
    html: { type: "string", default: "dist/capacity.html" },
    "addresses-per-day": { type: "string", default: "200000000" },
    "peak-factor": { type: "string", default: "4" },
    "cold-share": { type: "string", default: "0.05" },
    "single-share": { type: "string", default: "0.2" },
    "batch-size": { type: "string", default: "10000" },
    "p99-ms": { type: "string", default: "40" },
    "core-hour-usd": { type: "string", default: "0.05" },
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
const demand: Demand = {
  addressesPerDay: number("addresses-per-day", 1, 1e12),
  peakFactor: number("peak-factor", 1, 1000),
  coldShare: number("cold-share", 0, 1),
  singleShare: number("single-share", 0, 1),
  batchSize: number("batch-size", 1, 100_000),
  p99MsMax: number("p99-ms", 0.1, 60_000),
  coreHourUsd: number("core-hour-usd", 0, 1000),
};
const { pipeline, pipelineMachine } = await pipelineFigures();
const costs = costsFrom(load, demand.batchSize);
const plan = planFor(demand, costs);
say(tableText(["what has to be carried", ""], demandRows(demand)));
say(`\n${tableText(["what it takes", ""], planRows(demand, plan))}`);
await Bun.write(values.json, `${JSON.stringify({ demand, plan, costs, load: summaryOf(load) }, null, 2)}\n`);
await Bun.write(values.html, reportHtml({ demand, plan, load, pipeline, pipelineMachine }));
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

async function readResult(path: string): Promise<SuiteResult | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? await file.json() : null;
}

function number(name: keyof typeof values, min: number, max: number): number {
  const value = Number(values[name]);
  if (value >= min && value <= max) return value;
  say(`--${name} must be a number from ${min} to ${max}, not "${values[name]}".`);
  process.exit(1);
}

function summaryOf({ at, quick, machine }: SuiteResult): Pick<SuiteResult, "at" | "quick" | "machine"> {
  return { at, quick, machine };
}
