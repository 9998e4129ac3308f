import { join } from "node:path";
import { machineLine } from "../machine.ts";
import type { Figure, SuiteResult } from "../result.ts";
import { costRows } from "./cost-rows.ts";
import { type Costs, costsFrom } from "./costs.ts";
import { type Demand, type DemandInput, INPUTS, shownNumber } from "./demand.ts";
import { latencyPlot } from "./latency-plot.ts";
import { planFor } from "./plan.ts";
import { escapeText, type Plot, type PlotSeries, plotFigure } from "./plot.ts";
import { commandOf, planRows, type Row } from "./rows.ts";
import { STYLE } from "./style.ts";

export type ReportInput = {
  readonly demand: Demand;
  readonly load: SuiteResult;
  readonly pipeline: readonly Figure[];
  /** Where the pipeline's figures come from. */
  readonly pipelineMachine: string;
  /** The plan of a cluster for the demand that is given, where one was measured. */
  readonly rowsOfNodes?: readonly Row[];
};

/** Returns the plan, its inputs and what it rests on as one HTML page that needs nothing from anywhere. */
export async function reportHtml(input: ReportInput): Promise<string> {
  const { demand, load, pipeline, pipelineMachine, rowsOfNodes = [] } = input;
  const costs = costsFrom(load);
  const script = await pageScript();
  const hash = new Bun.CryptoHasher("sha256").update(script).digest("base64");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`;
  const plots = [latencyPlot(costs.curve, demand.p99MsMax), ...plotsOf(load, pipeline)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Assay: capacity plan</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Capacity plan</h1>
<p>Measured ${escapeText(load.at.slice(0, 10))} on ${escapeText(machineLine(load.machine))}.${load.quick ? " <strong>From a quick run: good to see the page, not to plan with.</strong>" : ""}</p>
<div class="sides">
<form aria-labelledby="demand">
<h2 id="demand">What has to be carried</h2>
${INPUTS.map((input) => fieldHtml(input, demand)).join("\n")}
<button type="reset">As at first</button>
</form>
<section id="plan" aria-live="polite">
<h2>What it takes</h2>
${htmlTable(planRows(demand, planFor(demand, costs)))}
<p class="note">The same on the command line: <code id="command">${escapeText(commandOf(demand))}</code></p>
</section>
</div>
${rowsOfNodes.length === 0 ? "" : `<h2>As a cluster, for the load of the command line</h2>\n${htmlTable(rowsOfNodes)}`}
<h2>What it rests on</h2>
${htmlTable(costRows(costs))}
<p class="note">Documents and phone numbers are counted in batches of 1,000, network and charges of batches too. Pipeline: ${escapeText(pipelineMachine)}.</p>
<div class="plots">
${plots.map(plotFigure).join("\n")}
</div>
</main>
<script type="application/json" id="measured">${dataText(costs)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** The part that runs in the reader's browser, in one piece. Throws with the bundler's words. */
async function pageScript(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "page", "main.ts")],
    target: "browser",
    format: "iife",
    minify: true,
  });
  const [output] = outputs;
  if (output === undefined) throw new Error("nothing was built of the page's script");
  // The end of the element would be the end of the script.
  return (await output.text()).trim().replaceAll("</script", "<\\/script");
}

/** JSON that nothing in it can end the element of. */
function dataText(costs: Costs): string {
  return JSON.stringify(costs).replaceAll("<", "\\u003c");
}

function fieldHtml(input: DemandInput, demand: Demand): string {
  const { option, label, unit } = input;
  const value = shownNumber(input, demand[input.key]);
  return `<p class="field"><label for="${option}">${escapeText(label)}</label><span><input id="${option}" name="${option}" type="text" inputmode="decimal" autocomplete="off" value="${value}" aria-describedby="${option}-fault"> ${escapeText(unit)}</span><em id="${option}-fault"></em></p>`;
}

function htmlTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ([what, value]) => `<tr><th scope="row">${escapeText(what)}</th><td>${escapeText(value)}</td></tr>`,
  );
  return `<table><tbody>${lines.join("")}</tbody></table>`;
}

function plotsOf({ figures }: SuiteResult, pipeline: readonly Figure[]): Plot[] {
  const bytes = pipeline.filter(({ at }) => at?.payload === "bytes" && at.form === "json");
  const mostThreads = Math.max(...bytes.map(({ at }) => Number(at?.threads)));
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
      title: `Throughput over chunk size on ${mostThreads} threads, by what a thread returns`,
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
      id: "memory",
      title: "Highest resident memory over addresses at a time",
      xTitle: "addresses at a time",
      yTitle: "MB",
      xScale: "log",
      yScale: "linear",
      series: memorySeries(figures),
    },
  ];
}

function memorySeries(figures: readonly Figure[]): PlotSeries[] {
  const points = figures
    .filter(({ at }) => at?.plot === "memory")
    .map(({ at, value }) => ({ x: Number(at?.size) * Number(at?.parallel), base: Number(at?.base), value }));
  return [
    { name: "peak", points: points.map(({ x, value }) => ({ x, y: value })) },
    { name: "before the batches", points: points.map(({ x, base }) => ({ x, y: base })) },
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
      .map((figure) => ({ x: Number(figure.at?.[x]), y: figure.value }))
      .sort((one, other) => one.x - other.x),
  }));
}
