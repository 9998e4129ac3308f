import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { costsFrom, type Demand, kneeOf, planFor } from "../../bench/capacity/plan.ts";
import { reportHtml } from "../../bench/capacity/report.ts";
import { createChargeSubjects } from "../../bench/charges.ts";
import { addressCorpus } from "../../bench/input.ts";
import { createHistogram } from "../../bench/load/histogram.ts";
import { ALLOCATOR } from "../../bench/load/processes.ts";
import { singlesRound } from "../../bench/load/singles.ts";
import { type Figure, judgeTarget, type SuiteResult, slowdowns } from "../../bench/result.ts";
import { createSubjects } from "../../bench/subjects.ts";
import packageFile from "../../package.json" with { type: "json" };
import { CHROMIUM, startBrowser } from "../support/browser.ts";
import { temporaryFolder } from "../support/process.ts";

describe("what is timed", () => {
  test("every function gives the right answers before it is timed", async () => {
    await using functions = await createSubjects();
    await using charges = createChargeSubjects();
    for (const subject of [...functions.subjects, charges.metered, charges.singleRows]) {
      expect([subject.name, await subject.fault()]).toEqual([subject.name, null]);
      expect(await subject.turn()).toBeGreaterThan(0);
    }
  });

  test("a corpus is the same in every run and has every kind of address", () => {
    const corpus = () => addressCorpus({ seed: 3, count: 3000, domains: 50 });
    expect(corpus()).toEqual(corpus());
    const kinds = new Set(corpus().cases.map(({ subStatus }) => subStatus));
    expect([...kinds].sort()).toEqual([
      "accepts_mail",
      "disposable",
      "domain_not_found",
      "implicit_mx",
      "invalid_syntax",
      "invalid_tld",
      "null_mx",
      "role_account",
    ]);
  });
});

describe("how it is timed", () => {
  test("a server is measured with the allocator's settings of bun run start, and so are the peers", () => {
    const delay = ALLOCATOR.MIMALLOC_PURGE_DELAY;
    expect(packageFile.scripts.start).toContain(`MIMALLOC_PURGE_DELAY:-${delay}}`);
    expect(packageFile.scripts["bench:peers"]).toContain(`MIMALLOC_PURGE_DELAY=${delay} exec bun`);
  });

  test("percentiles are within 2 % of the exact ones", () => {
    const histogram = createHistogram();
    for (let ms = 1; ms <= 10_000; ms += 1) histogram.add(ms);
    const { count, p50, p99, p999, max } = histogram.percentiles();
    expect([count, max]).toEqual([10_000, 10_000]);
    for (const [found, exact] of [
      [p50, 5000],
      [p99, 9900],
      [p999, 9990],
    ] as const) {
      expect(Math.abs(found / exact - 1)).toBeLessThan(0.02);
    }
  });

  test("requests that a stalled server keeps from being sent count as slow ones", async () => {
    const stallMs = 300;
    let calls = 0;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        calls += 1;
        // Holds up the whole server once, as a long pause of its only thread does.
        if (calls === 20) Bun.sleepSync(stallMs);
        return new Response("{}");
      },
    });
    const round = await singlesRound(
      {
        kind: "singles",
        aims: [],
        traffic: { kind: "warm" },
        connections: 2,
        ratePerSecond: 200,
        spin: false,
        rounds: 1,
        roundMs: 1000,
      },
      { url: server.url.origin, key: "none" },
    );
    await server.stop(true);
    expect([round.wrong, round.lost, round.latency.count]).toEqual([0, 0, 200]);
    // About 60 of the 200 were due during the pause; a driver that waits for replies would have seen two.
    expect(round.latency.p90).toBeGreaterThan(stallMs * 0.25);
    expect(round.latency.max).toBeGreaterThan(stallMs * 0.9);
  });

  test("a slowdown past the threshold is found, whichever way is better", () => {
    const figure = (name: string, value: number, better: Figure["better"]): Figure => ({
      name,
      group: "",
      unit: "",
      better,
      value,
    });
    const before = resultOf([
      figure("rate", 100, "higher"),
      figure("time", 100, "lower"),
      figure("odd", 1, "neither"),
    ]);
    const worse = resultOf([
      figure("rate", 70, "higher"),
      figure("time", 130, "lower"),
      figure("odd", 9, "neither"),
    ]);
    const same = resultOf([figure("rate", 95, "higher"), figure("time", 105, "lower")]);
    expect(slowdowns(before, worse, 0.2).map(({ name }) => name)).toEqual(["rate", "time"]);
    expect(slowdowns(before, same, 0.2)).toEqual([]);
  });

  test("what could not be measured is not met", () => {
    const target = { what: "", against: "", bound: { atLeast: 1 } };
    expect(judgeTarget({ ...target, measured: null }).met).toBe(false);
    expect(judgeTarget({ ...target, measured: 1 }).met).toBe(true);
  });
});

describe("the capacity plan", () => {
  test("adds up the cores, the memory and the next million", () => {
    const plan = planFor(DEMAND, costsFrom(LOAD, DEMAND.batchSize));
    expect(plan.peakPerSecond).toBe(40_000);
    // A tenth alone at 100 s a million, the others at 5, and a twentieth of all with look-ups at 50.
    expect(plan.nextMillion.cpuSeconds).toBeCloseTo(0.1 * 100 + 0.9 * 5 + 0.05 * 50);
    expect(plan.coresBusyAtPeak).toBeCloseTo(0.04 * 17);
    expect([plan.fillMax, plan.limit]).toEqual([0.5, "the p99 target"]);
    expect(plan.cores).toBe(2);
    expect(plan.headroom).toBeCloseTo(1 - 0.68 / 2);
    expect(plan.parallelBatches).toBe(1);
    expect(plan.memoryMb).toBeCloseTo(300 * 1.25);
  });

  test("finds the knee before the latency leaves the ground", () => {
    expect(kneeOf(costsFrom(LOAD, 1000).curve)?.share).toBe(0.5);
  });
});

if (CHROMIUM === null) console.log("bench: no chromium here; the test that looks at the report is skipped");

describe.skipIf(CHROMIUM === null)("the report", () => {
  test("its plots are drawn, and nothing is fetched from outside", async () => {
    using folder = temporaryFolder("report");
    const path = join(folder.path, "capacity.html");
    const plan = planFor(DEMAND, costsFrom(LOAD, DEMAND.batchSize));
    const input = { demand: DEMAND, plan, load: LOAD, pipeline: PIPELINE, pipelineMachine: "a machine" };
    await Bun.write(path, reportHtml(input));
    await using browser = await startBrowser(CHROMIUM ?? "");
    await browser.open(`file://${path}`);
    await browser.until('document.readyState === "complete" && document.querySelector("figure") !== null');
    expect(browser.requested()).toEqual([`file://${path}`]);
    expect(browser.complaints()).toEqual([]);
    const drawn = await browser.evaluate<{ id: string; lines: number; length: number; inside: boolean }[]>(`
      [...document.querySelectorAll("figure")].map((figure) => {
        const frame = figure.querySelector("svg").getBoundingClientRect();
        const lines = [...figure.querySelectorAll("polyline.series")];
        return {
          id: figure.id,
          lines: lines.length,
          length: Math.min(...lines.map((line) => line.getTotalLength())),
          inside: lines.every((line) => {
            const box = line.getBoundingClientRect();
            return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
          }),
        };
      })`);
    expect(drawn.map(({ id, lines }) => [id, lines])).toEqual([
      ["threads", 2],
      ["chunks", 2],
      ["latency", 2],
      ["memory", 2],
    ]);
    for (const { length, inside } of drawn) {
      expect(length).toBeGreaterThan(100);
      expect(inside).toBe(true);
    }
    expect(await browser.evaluate<string>("document.body.innerText")).toContain("one more million");
  }, 60_000);
});

function resultOf(figures: readonly Figure[]): SuiteResult {
  const machine = {
    cores: 2,
    processor: "a processor",
    memoryGb: 8,
    system: "a system",
    bun: "1.4.5",
    loadBefore: 0,
  };
  return {
    suite: "load",
    at: "2026-01-01T00:00:00Z",
    quick: false,
    machine,
    versions: {},
    figures,
    targets: [],
  };
}

const DEMAND: Demand = {
  addressesPerDay: 864_000_000,
  peakFactor: 4,
  coldShare: 0.05,
  singleShare: 0.1,
  batchSize: 1000,
  p99MsMax: 40,
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
    at: { plot: "offered", share, offeredPerSecond: share * 20_000 },
  });

const memory = (parallel: number, value: number) =>
  figure(`memory: ${parallel} × 100,000 addresses at a time`, value, {
    at: { plot: "memory", size: 100_000, parallel, base: 150 },
  });

const LOAD = resultOf([
  ...cost("single verify, warm, flat out", 100, 8),
  ...cost("single verify, cold, flat out", 150, 12),
  ...cost("batches of 1,000, warm", 5, 1),
  figure("batches of 1,000, warm", 200_000, { at: { plot: "size", size: 1000, cold: 0 } }),
  ...[offered(0.1, 3), offered(0.5, 14), offered(0.9, 80), offered(1, 400)],
  memory(1, 300),
  memory(10, 660),
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
