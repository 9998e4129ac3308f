import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSyncer } from "../../src/directory/sync/sync-dependencies.ts";
import { DAY_MS, dayOf } from "../../src/platform/days.ts";
import { createPublishedEvidence } from "../../src/prober/published-evidence.ts";
import type { Probe } from "../../src/store/probe-port.ts";
import { openProbes } from "../../src/store/sqlite/side-databases/probes/open-probes.ts";
import { openProbeReader } from "../../src/store/sqlite/side-databases/probes/read-probes.ts";
import { lines, listing, testClock } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";
import { contentOf } from "../support/synced-directory.ts";

const HOUR_MS = 3_600_000;
const REFUSED = { status: "blocked", payTo: null, priceMicroUsd: null } as const;

/** A prober's database of a test, with the evidence that is published from it. */
function setUp() {
  const stack = new DisposableStack();
  const folder = stack.use(temporaryFolder("probes"));
  const clock = testClock();
  const { probes } = stack.use(openProbes(folder.path, clock));
  const evidenceOfNewProcess = () =>
    stack.use(createPublishedEvidence(() => openProbeReader(folder.path), clock));
  return {
    folder,
    clock,
    evidenceOfNewProcess,
    probe(host: string, change: Partial<Probe> = {}): void {
      const at = clock.now();
      const place = { url: `https://${host}/v1/run`, host, method: "GET", at, day: dayOf(at) };
      const found = { status: "paid", ms: 100, accepts: "[]", payTo: "0xaa", priceMicroUsd: 10_000 } as const;
      probes.record([{ ...place, ...found, ...change }]);
    },
    [Symbol.dispose]: () => stack.dispose(),
  };
}

test("what is older than 30 days leaves the listing of a service that is not probed any more", async () => {
  using probing = setUp();
  const { clock, folder } = probing;
  const { host, evidence } = listing(1);
  const file = join(folder.path, "listings.ndjson");
  writeFileSync(file, lines([listing(1)]));
  const source = { upstream: null, file, allowPrivateUpstream: false, allowRedirects: false };
  const syncer = createSyncer(
    { folder: join(folder.path, "directory"), ...source },
    {
      lookUp: async () => ({ ok: false, reason: "dns_failed" }),
      clock,
      newId: () => "test",
      measures: probing.evidenceOfNewProcess(),
    },
  );
  const synced = async () =>
    contentOf(await syncer.sync({ acceptTripped: false })).get(host)?.evidence ?? null;
  for (let n = 0; n < 10; n++) probing.probe(host);
  clock.advance(5 * DAY_MS);
  for (let n = 0; n < 25; n++) probing.probe(host);
  expect(await synced()).toMatchObject({ uptime_30d: 1, probes_30d: 35, median_latency_ms: 100 });
  clock.advance(26 * DAY_MS);
  expect(await synced()).toMatchObject({ uptime_30d: 1, probes_30d: 25 });
  clock.advance(5 * DAY_MS);
  expect(await synced()).toEqual({
    ...evidence,
    ...{ uptime_30d: null, probes_30d: 0, median_latency_ms: null, price_usd: "0.010000" },
  });
  clock.advance(2 * DAY_MS);
  expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "unchanged" });
});

test("a service that refuses our probes for 30 days has none, for a process that starts then too", () => {
  using probing = setUp();
  const { clock, evidenceOfNewProcess } = probing;
  const running = evidenceOfNewProcess();
  probing.probe("turned.example");
  expect(running.renew()).toEqual(["turned.example"]);
  for (let day = 0; day < 31; day++) {
    clock.advance(DAY_MS);
    probing.probe("turned.example", REFUSED);
    probing.probe("closed.example", REFUSED);
  }
  const nothing = { uptime_30d: null, probes_30d: 0, median_latency_ms: null };
  for (const evidence of [running, evidenceOfNewProcess()]) {
    expect(evidence.renew()).toEqual(["turned.example"]);
    expect(evidence.of("turned.example")).toMatchObject(nothing);
    // Measures of its source stand in a listing that never had any of ours.
    expect(evidence.of("closed.example")).toBeNull();
  }
});

test("a clock that was ahead hides no probe, and holds no counts back, once it is right", () => {
  using probing = setUp();
  const { clock, evidenceOfNewProcess } = probing;
  const running = evidenceOfNewProcess();
  clock.advance(20 * DAY_MS);
  probing.probe("a.example");
  probing.probe("b.example");
  expect(running.renew()).toEqual(["a.example", "b.example"]);
  clock.advance(-20 * DAY_MS);
  const started = evidenceOfNewProcess();
  started.renew();
  probing.probe("a.example", { priceMicroUsd: 20_000 });
  for (const evidence of [running, started]) {
    expect(evidence.renew()).toContain("a.example");
    expect(evidence.of("a.example")).toMatchObject({ price_usd: "0.020000", probes_30d: 2 });
  }
  clock.advance(HOUR_MS);
  probing.probe("b.example");
  for (const evidence of [running, started]) {
    expect(evidence.renew()).toContain("b.example");
    expect(evidence.of("b.example")).toMatchObject({ probes_30d: 2 });
  }
});
