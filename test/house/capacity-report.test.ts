import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { COST_NAMES, costsFrom, ITEMS } from "../../bench/capacity/costs.ts";
import { type Demand, INPUTS, readDemand, shownNumber } from "../../bench/capacity/demand.ts";
import { nodePlanFor } from "../../bench/capacity/nodes.ts";
import { kneeOf, planFor } from "../../bench/capacity/plan.ts";
import { reportHtml } from "../../bench/capacity/report.ts";
import { planRows } from "../../bench/capacity/rows.ts";
import type { ClusterFigure, ClusterFigures, ClusterResult } from "../../bench/cluster/result.ts";
import type { Figure } from "../../bench/result.ts";
import { type Browser, CHROMIUM, startBrowser } from "../support/browser.ts";
import { temporaryFolder } from "../support/process.ts";
import { resultOf } from "../support/suite-result.ts";

const cpuEach = (nodesCpu: number, postgresCpu: number): ClusterFigure => ({
  ...{ perSecond: 1_000, rounds: [1_000] },
  nodesCpu,
  postgresCpu,
});
const clusterOf = (embedded: ClusterFigures, one: ClusterFigures): ClusterResult => ({
  ...{ at: "2026-01-01T00:00:00.000Z", nodes: 3, embedded, one, several: one },
  machine: { cores: 4, processor: "p", memoryGb: 8, system: "s", bun: "1", loadBefore: 0 },
  balancer: {
    ...{
      capacitiesPerSecond: [],
      p99Ms: [],
      diskMs: [],
      flatOutBesideJob: { perSecond: 0, rowsPerSecond: 0 },
    },
    besideJob: { p50Ms: [], p99Ms: [], diskMs: [], rowsPerSecond: 0, wrongOrLost: 0 },
  },
});

describe("the capacity plan", () => {
  test("adds up the cores, the memory and the next million", () => {
    const plan = planFor(DEMAND, costsFrom(LOAD));
    // A tenth of the addresses are rows of jobs, which are spread over the day.
    expect([plan.averagePerSecond, plan.peakPerSecond, plan.jobRowsPerSecond]).toEqual([
      10_000, 36_000, 1_000,
    ]);
    // A million: a tenth alone at 100 s, eight tenths at 5, a tenth in jobs at 4, a twentieth with look-ups at 50 + 0.5 × 20.
    expect(plan.nextMillion.cpuSeconds).toBeCloseTo(10 + 4 + 0.4 + 0.05 * 60);
    // In the busiest second, documents at 3 s and phone numbers at 20 s a million, too.
    const calls = 4_000 * 100 + 32_000 * 5 + 1_000 * 4 + 37_000 * 0.05 * 60 + 400 * 3 + 400 * 20;
    expect(plan.coresBusyAtPeak).toBeCloseTo(calls / 1e6);
    expect([plan.fillMax, plan.limit]).toEqual([0.5, "the p99 target"]);
    expect(plan.cores).toBe(2);
    expect(plan.headroom).toBeCloseTo(1 - plan.coresBusyAtPeak / 2);
    expect(plan.parallelBatches).toBe(1);
    expect(plan.memoryMb).toBeCloseTo(300 * 1.25);
  });

  test("adds up DNS queries, the network and the disk", () => {
    const { more } = planFor(DEMAND, costsFrom(LOAD));
    // Half of the look-ups ask four questions in place of one.
    expect(more?.dnsQueriesPerSecond).toBeCloseTo(37_000 * 0.05 * 2.5);
    const items = 4_000 + 32_000 + 400 + 400 + 1_000;
    expect(more?.receivedMbitPerSecond).toBeCloseTo((items * 100 * 8) / 1e6);
    expect(more?.sentMbitPerSecond).toBeCloseTo((items * 400 * 8) / 1e6);
    expect(more?.sentGzipMbitPerSecond).toBeCloseTo((items * 40 * 8) / 1e6);
    expect(more?.chargesMbPerDay).toBeCloseTo(((864_000_000 + 2 * 8_640_000) * 0.5) / 1e6);
    expect(more?.jobsMb).toBeCloseTo((86_400_000 * 7 * 60) / 1e6);
  });

  test("of a result without these figures says so, and has the rest", () => {
    const older = resultOf(LOAD.figures.filter(({ group }) => group !== MORE));
    const plan = planFor(DEMAND, costsFrom(older));
    expect(plan.more).toBeNull();
    expect(plan.cores).toBe(2);
    expect(JSON.stringify(planRows(DEMAND, plan))).toContain("run bench:load again");
  });

  test("counts for nodes all that is counted for one server, and what PostgreSQL takes", () => {
    const costs = costsFrom(LOAD);
    const { coresBusyAtPeak, ...plan } = planFor(DEMAND, costs);
    // As quick as the server of the load result with the embedded store.
    const embedded = { single: cpuEach(100, 0), batch: cpuEach(5, 0), job: cpuEach(4, 0) };
    const alike = { single: cpuEach(100, 10), batch: cpuEach(5, 1), job: cpuEach(4, 2) };
    const nodes = nodePlanFor(DEMAND, plan, costs, clusterOf(embedded, alike));
    expect(nodes.nodeCoresBusy).toBeCloseTo(coresBusyAtPeak);
    expect(nodes.postgresCoresBusy).toBeCloseTo((4_000 * 10 + 32_800 + 1_000 * 2) / 1e6);
    // A node that takes twice as much for a single check, on a machine at half the speed.
    const slow = { single: cpuEach(200, 0), batch: cpuEach(10, 0), job: cpuEach(8, 0) };
    const costly = { single: cpuEach(400, 20), batch: cpuEach(10, 2), job: cpuEach(8, 4) };
    const more = nodePlanFor(DEMAND, plan, costs, clusterOf(slow, costly));
    expect(more.nodeCoresBusy).toBeCloseTo(coresBusyAtPeak + (4_000 * 100) / 1e6);
    expect(more.postgresCoresBusy).toBeCloseTo(nodes.postgresCoresBusy);
    expect([more.nodes, more.coresPerNode, more.postgresCores]).toEqual([2, 4, 1]);
  });

  test("finds the knee before the latency leaves the ground", () => {
    expect(kneeOf(costsFrom(LOAD).curve)?.share).toBe(0.5);
  });

  test("counts a p99 that falls under more load as noise: no plan rests on it", () => {
    const { curve } = costsFrom(LOAD);
    expect(curve.map(({ p99 }) => p99)).toEqual([3, 14, 80, 30, 400]);
    expect(curve.map(({ p99Settled }) => p99Settled)).toEqual([3, 14, 80, 80, 400]);
    expect(planFor({ ...DEMAND, p99MsMax: 40 }, costsFrom(LOAD)).fillMax).toBe(0.5);
  });

  test("refuses numbers out of bounds, and shares of more than the whole, by name", () => {
    const wrong = (texts: { [option: string]: string }) => {
      const read = readDemand(texts, "command line");
      return "wrong" in read ? read.wrong.map(({ option }) => option) : [];
    };
    expect(wrong({})).toEqual([]);
    for (const { option, max } of INPUTS) expect(wrong({ [option]: `${max * 2}` })).toContain(option);
    for (const text of ["", "x", "NaN", "-1"])
      expect(wrong({ "peak-factor": text })).toEqual(["peak-factor"]);
    expect(wrong({ "single-share": "0.6", "job-share": "0.5" })).toEqual(["job-share"]);
    expect(wrong({ "single-share": "0.7", "job-share": "0.3" })).toEqual([]);
  });
});

if (CHROMIUM === null)
  console.log("capacity: no chromium here; the tests that look at the report are skipped");

describe.skipIf(CHROMIUM === null)("the report", () => {
  let browser: Browser;
  let folder: ReturnType<typeof temporaryFolder>;
  let address = "";
  beforeAll(async () => {
    folder = temporaryFolder("report");
    const path = join(folder.path, "capacity.html");
    await Bun.write(
      path,
      await reportHtml({ demand: DEMAND, load: LOAD, pipeline: PIPELINE, pipelineMachine: "a machine" }),
    );
    address = `file://${path}`;
    browser = await startBrowser(CHROMIUM ?? "");
  }, 60_000);
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test.each([1366, 390])(
    "at %d pixels nothing overflows, no label is cut off or covers another",
    async (width) => {
      await browser.resize(width, 900);
      await browser.open(address);
      await browser.until('document.readyState === "complete" && document.querySelector("figure") !== null');
      expect(await browser.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(
        width,
      );
      const plots = await browser.evaluate<{ id: string; lines: number; faults: string[] }[]>(LOOK_AT_PLOTS);
      expect(plots.map(({ id, lines }) => [id, lines])).toEqual([
        ["latency", 2],
        ["threads", 2],
        ["chunks", 2],
        ["memory", 2],
      ]);
      expect(plots.flatMap(({ faults }) => faults)).toEqual([]);
      expect(browser.requested().filter((url) => !url.startsWith(address))).toEqual([]);
      expect(browser.complaints()).toEqual([]);
    },
  );

  test("makes the plan anew for the numbers on the page, as the command line does", async () => {
    await browser.open(`${address}#again`);
    await browser.until('document.readyState === "complete" && document.querySelector("figure") !== null');
    expect(await browser.evaluate(SHOWN_PLAN)).toEqual(planRows(DEMAND, planFor(DEMAND, costsFrom(LOAD))));
    const other: Demand = {
      addressesPerDay: 5_000_000_000,
      singleShare: 0.35,
      jobShare: 0.07,
      batchSize: 5,
      coldShare: 0.07,
      deepShare: 1,
      documentsPerDay: 9_000_000,
      phonesPerDay: 70_000_000,
      peakFactor: 9,
      p99MsMax: 500,
      jobDaysKept: 30,
      coreHourUsd: 0.2,
    };
    const values = Object.fromEntries(
      INPUTS.map((input) => [input.option, `${shownNumber(input, other[input.key])}`]),
    );
    await browser.evaluate(
      `{ for (const [id, value] of Object.entries(${JSON.stringify(values)})) { const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); } }`,
    );
    expect(await browser.evaluate(SHOWN_PLAN)).toEqual(planRows(other, planFor(other, costsFrom(LOAD))));
    expect(await browser.evaluate<string>('document.querySelector("#latency").textContent')).toContain(
      "target: 500 ms",
    );
    const command = await browser.evaluate<string>('document.getElementById("command").textContent');
    const options = Object.fromEntries(
      [...command.matchAll(/--(\S+) (\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    expect(readDemand(options, "command line")).toEqual(other);
  });

  test("says which number is wrong, and keeps the last plan faint", async () => {
    const before = await browser.evaluate(SHOWN_PLAN);
    await browser.evaluate(
      '{ const field = document.getElementById("single-share"); field.value = "<b>101"; field.dispatchEvent(new Event("input", { bubbles: true })); }',
    );
    expect(await browser.evaluate<string>('document.getElementById("single-share-fault").textContent')).toBe(
      'must be a number from 0 to 100, not "<b>101"',
    );
    expect(
      await browser.evaluate<boolean>('document.getElementById("plan").classList.contains("stale")'),
    ).toBe(true);
    expect(await browser.evaluate(SHOWN_PLAN)).toEqual(before);
  });
});

const SHOWN_PLAN = `[...document.querySelectorAll("#plan tr")].map(({ cells }) => [cells[0].textContent, cells[1].textContent])`;

/** The plot that is shown of each figure: how many lines it has, what of it is outside, and which texts meet. */
const LOOK_AT_PLOTS = `[...document.querySelectorAll("figure")].map((figure) => {
  const svg = [...figure.querySelectorAll(":scope > svg")].find((one) => one.getBoundingClientRect().width > 0);
  const frame = svg.getBoundingClientRect();
  const outside = (box) => box.left < frame.left - 0.5 || box.right > frame.right + 0.5 || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5;
  const texts = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  const faults = [
    ...[...svg.querySelectorAll("text, polyline, circle, line")].filter((one) => outside(one.getBoundingClientRect())).map((one) => figure.id + ": outside: " + (one.textContent || one.outerHTML)),
    ...texts.flatMap(([text, box], at) => texts.slice(at + 1).filter(([, other]) => meet(box, other)).map(([other]) => figure.id + ": " + text.textContent + " covers " + other.textContent)),
    ...texts.filter(([text, box]) => box.height < 9 && box.width < 9).map(([text]) => figure.id + ": too small: " + text.textContent),
    ...[...svg.querySelectorAll("polyline.series")].filter((line) => line.getTotalLength() < 100).map((line) => figure.id + ": a line of no length"),
  ];
  return { id: figure.id, lines: svg.querySelectorAll("polyline.series").length, faults };
})`;

const DEMAND: Demand = {
  addressesPerDay: 864_000_000,
  singleShare: 0.1,
  jobShare: 0.1,
  batchSize: 1000,
  coldShare: 0.05,
  deepShare: 0.5,
  documentsPerDay: 8_640_000,
  phonesPerDay: 8_640_000,
  peakFactor: 4,
  p99MsMax: 40,
  jobDaysKept: 7,
  coreHourUsd: 0.05,
};

const figure = (name: string, value: number, more: Partial<Figure> = {}): Figure => ({
  name,
  group: "",
  unit: "",
  better: "neither",
  value,
  ...more,
});

const cost = (scenario: string, all: number, mainThread: number) => [
  figure(`${scenario}: CPU`, all),
  figure(`${scenario}: CPU of the main thread`, mainThread),
];

const offered = (share: number, p99: number) =>
  figure(`offered ${share}`, share * 20_000, {
    p50: p99 / 4,
    p99,
    spread: { rounds: 3, p50: [p99 / 5, p99 / 3], p99: [p99 / 1.5, p99 * 1.5] },
    at: { plot: "offered", share, offeredPerSecond: share * 20_000 },
  });

const memory = (parallel: number, value: number) =>
  figure(`memory: ${parallel} × 100,000 addresses at a time`, value, {
    at: { plot: "memory", size: 100_000, parallel, base: 150 },
  });

/** The group of what older results do not have. */
const MORE = "more";
const { document, phone, jobRow, plainLookup, deepLookup, queries, item } = COST_NAMES;

const more = [
  ...cost(document, 3, 1),
  ...cost(phone, 20, 1),
  ...cost(jobRow, 4, 1),
  ...cost(plainLookup, 60, 10),
  ...cost(deepLookup, 80, 15),
  figure(`${plainLookup}: ${queries}`, 1),
  figure(`${deepLookup}: ${queries}`, 4),
  ...ITEMS.flatMap((each) => [
    figure(`${item[each]}: ${COST_NAMES.received}`, 100),
    figure(`${item[each]}: ${COST_NAMES.sent}`, 400),
    figure(`${item[each]}: ${COST_NAMES.sentGzip}`, 40),
    figure(`${item[each]}: ${COST_NAMES.charge}`, 0.5),
  ]),
  figure(`${item.job}: ${COST_NAMES.kept}`, 60),
].map((each) => ({ ...each, group: MORE }));

const LOAD = resultOf([
  ...cost("single verify, warm, flat out", 100, 8),
  ...cost("single verify, cold, flat out", 150, 12),
  ...cost("batches of 1,000, warm", 5, 1),
  figure("batches of 1,000, warm", 200_000, { at: { plot: "size", size: 1000, cold: 0 } }),
  ...[offered(0.1, 3), offered(0.5, 14), offered(0.8, 80), offered(0.9, 30), offered(1, 400)],
  memory(1, 300),
  memory(10, 660),
  ...more,
]);

const PIPELINE = ["bytes", "objects"].flatMap((payload) =>
  [1, 2].flatMap((threads) =>
    [500, 1000].map((chunk) =>
      figure(`${payload} ${threads} ${chunk}`, threads * 100_000 + chunk, {
        at: { payload, threads, chunk, form: "json" },
      }),
    ),
  ),
);
