import { describe, expect, test } from "bun:test";
import { createChargeSubjects } from "../../bench/charges.ts";
import { addressCorpus } from "../../bench/input.ts";
import { createHistogram } from "../../bench/load/histogram.ts";
import { ALLOCATOR } from "../../bench/load/processes.ts";
import { singlesRound } from "../../bench/load/singles.ts";
import { type Figure, judgeTarget, missingFigures, slowdowns } from "../../bench/result.ts";
import { createSubjects } from "../../bench/subjects.ts";
import packageFile from "../../package.json" with { type: "json" };
import { resultOf } from "../support/suite-result.ts";

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
  test("a server is measured with the allocator's settings of bun run start and bun run cluster, and so are the peers", () => {
    const delay = ALLOCATOR.MIMALLOC_PURGE_DELAY;
    for (const script of ["start", "cluster"] as const) {
      expect(packageFile.scripts[script]).toContain(`MIMALLOC_PURGE_DELAY:-${delay}}`);
    }
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
      0,
    );
    await server.stop(true);
    expect([round.wrong, round.lost, round.latency.count]).toEqual([0, 0, 200]);
    // About 60 of the 200 were due during the pause; a driver that waits for replies would have seen two.
    expect(round.latency.p90).toBeGreaterThan(stallMs * 0.25);
    expect(round.latency.max).toBeGreaterThan(stallMs * 0.9);
  });

  test("no round asks for a cold name that another one asked for", async () => {
    const asked: string[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ url }) {
        asked.push(new URL(url).searchParams.get("email") ?? "");
        return new Response("{}");
      },
    });
    const aim = { url: server.url.origin, key: "none" };
    for (const round of [0, 1]) {
      const job = { kind: "singles", aims: [], connections: 2, ratePerSecond: 500, spin: false } as const;
      await singlesRound(
        { ...job, traffic: { kind: "cold", run: "one" }, rounds: 2, roundMs: 100 },
        aim,
        round,
      );
    }
    await server.stop(true);
    expect(asked).toHaveLength(100);
    expect(new Set(asked).size).toBe(100);
  });

  test("an earlier figure that is not there now, or is no number, is named", () => {
    const figure = (name: string, value: number): Figure => ({
      name,
      group: "",
      unit: "",
      better: "higher",
      value,
    });
    const before = resultOf([figure("kept", 1), figure("gone", 1), figure("broken", 1)]);
    expect(missingFigures(before, resultOf([figure("kept", 1), figure("broken", Number.NaN)]))).toEqual([
      "gone",
      "broken",
    ]);
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
