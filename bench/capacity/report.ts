import { machineLine } from "../machine.ts";
import { shown } from "../print.ts";
import type { Figure, SuiteResult } from "../result.ts";
import { curveFrom, type Demand, type Plan } from "./plan.ts";
import { escapeText, type Plot, type PlotSeries, plotSvg } from "./plot.ts";

export type ReportInput = {
  readonly demand: Demand;
  readonly plan: Plan;
  readonly load: SuiteResult;
  readonly pipeline: readonly Figure[];
  /** Where the pipeline's figures come from. */
  readonly pipelineMachine: string;
};

/** The plan and what it rests on as one HTML page that needs nothing from anywhere. */
export function reportHtml(input: ReportInput): string {
  const { load } = input;
  const plots = plotsOf(input).map(plotSvg);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Assay: capacity plan</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Capacity plan</h1>
<p>Measured ${escapeText(load.at.slice(0, 10))} on ${escapeText(machineLine(load.machine))}.${load.quick ? " <strong>From a quick run: good to see the page, not to plan with.</strong>" : ""}</p>
<h2>What has to be carried</h2>
${htmlTable(demandRows(input.demand))}
<h2>What it takes</h2>
${htmlTable(planRows(input.demand, input.plan))}
<h2>What it rests on</h2>
<p>Pipeline: ${escapeText(input.pipelineMachine)}.</p>
<div class="plots">
${plots.join("\n")}
</div>
</body>
</html>
`;
}

export function demandRows(demand: Demand): [string, string][] {
  return [
    ["addresses a day", shown(demand.addressesPerDay)],
    ["busiest second against the average", `${demand.peakFactor} ×`],
    ["domains that are not in the cache", `${demand.coldShare * 100} % of addresses`],
    ["as single calls", `${demand.singleShare * 100} % of addresses`],
    ["size of the other batches", shown(demand.batchSize)],
    ["p99 of single calls", `at most ${demand.p99MsMax} ms`],
  ];
}

export function planRows(demand: Demand, plan: Plan): [string, string][] {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const { knee, nextMillion } = plan;
  return [
    ["addresses in the average second", shown(plan.averagePerSecond)],
    ["addresses in the busiest second", shown(plan.peakPerSecond)],
    ["cores", `${plan.cores} (${shown(plan.coresBusyAtPeak)} busy in the busiest second)`],
    ["how far a core may be filled", `${percent(plan.fillMax)}, by ${plan.limit}`],
    ["free in the busiest second", percent(plan.headroom)],
    ["processes, each with a data directory of its own", `${plan.processes}`],
    ["WORKER_THREADS of each", `${plan.threadsPerProcess}`],
    ["batches at a time", `${plan.parallelBatches}`],
    ["memory, a quarter of it spare", `${shown(plan.memoryMb)} MB`],
    [
      "the knee of the curve",
      knee === null
        ? "not met"
        : `${shown(knee.offeredPerSecond)} single calls a second (${percent(knee.share)} of flat out), p99 ${shown(knee.p99)} ms`,
    ],
    [
      "one more million",
      `${shown(nextMillion.cpuSeconds)} s of CPU, ${nextMillion.usd.toFixed(4)} USD at ${demand.coreHourUsd} USD a core hour`,
    ],
  ];
}

function htmlTable(rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(
    ([what, value]) => `<tr><th>${escapeText(what)}</th><td>${escapeText(value)}</td></tr>`,
  );
  return `<table>${lines.join("")}</table>`;
}

function plotsOf({ demand, load, pipeline }: ReportInput): Plot[] {
  const bytes = pipeline.filter(({ at }) => at?.payload === "bytes" && at.form === "json");
  const mostThreads = Math.max(...bytes.map(({ at }) => Number(at?.threads)));
  const curve = curveFrom(load);
  return [
    {
      id: "threads",
      title: "Throughput over worker threads, by chunk size",
      xTitle: "threads",
      yTitle: "addresses a second",
      xScale: "log",
      yScale: "linear",
      series: seriesBy(bytes, "chunk", "threads", (chunk) => `chunks of ${chunk}`),
    },
    {
      id: "chunks",
      title: `Throughput over chunk size on ${mostThreads} threads, by what a thread hands back`,
      xTitle: "addresses in a chunk",
      yTitle: "addresses a second",
      xScale: "log",
      yScale: "linear",
      series: seriesBy(
        pipeline.filter(({ at }) => at?.threads === mostThreads && at.form === "json"),
        "payload",
        "chunk",
        (payload) => payload,
      ),
    },
    {
      id: "latency",
      title: "Latency of single calls over offered load",
      xTitle: "calls a second offered",
      yTitle: "ms",
      xScale: "linear",
      yScale: "log",
      series: [
        { name: "p50", points: curve.map(({ offeredPerSecond, p50 }) => [offeredPerSecond, p50]) },
        { name: "p99", points: curve.map(({ offeredPerSecond, p99 }) => [offeredPerSecond, p99]) },
      ],
      limits: [{ name: `target: ${demand.p99MsMax} ms`, y: demand.p99MsMax }],
    },
    {
      id: "memory",
      title: "Highest resident memory over addresses at a time",
      xTitle: "addresses at a time",
      yTitle: "MB",
      xScale: "log",
      yScale: "linear",
      series: memorySeries(load.figures),
    },
  ];
}

function memorySeries(figures: readonly Figure[]): PlotSeries[] {
  const points = figures
    .filter(({ at }) => at?.plot === "memory")
    .map(({ at, value }) => ({
      addresses: Number(at?.size) * Number(at?.parallel),
      base: Number(at?.base),
      value,
    }));
  return [
    { name: "peak", points: points.map(({ addresses, value }) => [addresses, value]) },
    { name: "before the batches", points: points.map(({ addresses, base }) => [addresses, base]) },
  ];
}

function seriesBy(
  figures: readonly Figure[],
  by: string,
  x: string,
  name: (value: string) => string,
): PlotSeries[] {
  const groups = Map.groupBy(figures, ({ at }) => `${at?.[by]}`);
  return [...groups].map(([value, members]) => ({
    name: name(value),
    points: members
      .map((figure) => [Number(figure.at?.[x]), figure.value] as const)
      .sort(([a], [b]) => a - b),
  }));
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1d1d1f; --faint: #d5d5da; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --faint: #3c3c42; --paper: #161618 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } th { text-align: left; font-weight: 400; padding: .2rem 2rem .2rem 0 } td { font-variant-numeric: tabular-nums }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(28rem, 1fr)); gap: 2rem }
figure { margin: 0 } figcaption { font-weight: 600; margin-bottom: .5rem } figure > svg { width: 100%; height: auto }
.grid { stroke: var(--faint) } .limit { stroke: var(--ink); stroke-dasharray: 6 4 } text { fill: var(--ink) } .tick { font-size: 12px } .title { font-size: 13px }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; list-style: none; padding: 0; margin: .3rem 0 0; font-size: 14px }
`;
