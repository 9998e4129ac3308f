import { describe, expect, spyOn, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { createMetrics, type Reading } from "../../src/http/routes/metrics.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { until } from "../support/caller.ts";
import { refusalOf, startTestServer } from "../support/server.ts";

describe("GET /metrics", () => {
  test("200 formats NaN as Prometheus does", async () => {
    const metrics = createMetrics({
      assay_mean: { help: "Of none.", type: "gauge", read: () => Number.NaN },
    });
    expect((await metrics.text()).split("\n")).toContain("assay_mean NaN");
  });

  test("200 leaves out what cannot be read now, from the first reading on, and has all else", async () => {
    let isAway = true;
    const read = async <T>(value: T): Promise<T> => {
      if (isAway) throw new StorageError("the database is away");
      return value;
    };
    const metrics = createMetrics({
      assay_nodes: { help: "Of a cluster.", type: "gauge", read: () => read(3) },
      assay_rows: { help: "By kind.", type: "gauge", label: "kind", read: () => read({ used: 7 }) },
      assay_ended_total: { help: "Since ever.", type: "counter", read: () => read(5) },
      assay_own: { help: "Of this process.", type: "gauge", read: () => 1 },
    });
    const samples = async () =>
      (await metrics.text()).split("\n").filter((line) => line.startsWith("assay_"));
    expect(await samples()).toEqual(["assay_own 1"]);
    isAway = false;
    expect(await samples()).toEqual([
      "assay_nodes 3",
      'assay_rows{kind="used"} 7',
      "assay_ended_total 5",
      "assay_own 1",
    ]);
    isAway = true;
    expect(await samples()).toEqual(["assay_own 1"]);
  });

  test("200 is made in many turns of the event loop, so that other calls run meanwhile", async () => {
    const readAt: number[] = [];
    let turns = 0;
    const reading = (at: number): Reading => ({
      help: "Of a part.",
      type: "gauge",
      read: () => {
        readAt.push(turns);
        return at;
      },
    });
    const metrics = createMetrics(
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`assay_part_${at}`, reading(at)])),
    );
    await metrics.text();
    readAt.length = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const text = await metrics.text();
    isOver = true;
    for (const turn of new Set(readAt)) {
      expect(readAt.filter((each) => each === turn).length, `in turn ${turn}`).toBeLessThanOrEqual(8);
    }
    expect(text).toContain(
      "\n\n# HELP assay_part_99 Of a part.\n# TYPE assay_part_99 gauge\nassay_part_99 99\n",
    );
  });

  test("200 counts calls by route and status, and the units they cost", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    await server.call("/v1/email/verify?email=a@good.com&deep=true", { key });
    await server.call("/v1/email/verify", { key });
    await server.call("/v1/email/verify");
    const reply = await server.call("/metrics");
    expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = (await reply.text()).split("\n");
    for (const line of [
      'assay_http_requests_total{route="/v1/email/verify",status="200"} 1',
      'assay_http_requests_total{route="/v1/email/verify",status="400"} 1',
      'assay_http_requests_total{route="/v1/email/verify",status="401"} 1',
      'assay_units_charged_total{route="/v1/email/verify"} 2',
      'assay_http_request_seconds_count{route="/v1/email/verify"} 3',
    ]) {
      expect(lines).toContain(line);
    }
  });

  test("200 in the text format of Prometheus, line by line", async () => {
    await using server = await startTestServer();
    const text = await (await server.call("/metrics")).text();
    const sample =
      /^[a-zA-Z_:][\w:]*(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})? (?:-?\d[\d.e+-]*|NaN|[+-]Inf)$/;
    const strange = text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("# ") && !sample.test(line));
    expect(strange).toEqual([]);
  });

  test("200: unknown paths add no series", async () => {
    await using server = await startTestServer();
    const series = async () => (await (await server.call("/metrics")).text()).split("\n").length;
    await server.call("/nothing/0");
    await server.call("/v1/directory/host-0.example");
    await series();
    const before = await series();
    for (let n = 1; n < 50; n += 1) {
      await server.call(`/nothing/${n}`);
      await server.call(`/v1/directory/host-${n}.example`);
    }
    expect(await series()).toBe(before);
  });

  test("200 has the time of every component that an operator plans with, each sum as a counter", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    await server.call("/v1/email/batch", { key, body: { emails: ["a@good.com", "b@good.com"] } });
    await until("directory", async () => (await server.call("/v1/directory?limit=1")).status === 200);
    const text = await (await server.call("/metrics")).text();
    const sampleOf = (sample: string) => Number(text.split(`\n${sample} `)[1]?.split("\n")[0]);
    expect(sampleOf(`assay_build_info{version="${version}"}`)).toBe(1);
    expect(sampleOf("assay_dns_lookups_total")).toBeGreaterThan(0);
    expect(sampleOf("assay_dns_queries_total")).toBeGreaterThan(0);
    expect(sampleOf('assay_dns_lookup_failures_total{reason="error"}')).toBe(0);
    // The gauge is of what there is now, the counter of what has been: /health has a thread do a task.
    await server.call("/health");
    const after = await (await server.call("/metrics")).text();
    expect(after).toContain('\nassay_pool_tasks{state="running"} 0\nassay_pool_tasks{state="waiting"} 0\n');
    expect(after).toMatch(/\nassay_pool_tasks_total\{outcome="finished"\} [1-9]/);
    // The sign-up has looked the domain up that the batch asks for.
    expect(sampleOf('assay_domain_cache_total{outcome="hits"}')).toBe(1);
    expect(sampleOf("assay_pool_wait_seconds_total")).toBeGreaterThanOrEqual(0);
    expect(sampleOf("assay_pool_run_seconds_total")).toBeGreaterThanOrEqual(0);
    expect(sampleOf("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
    // These would hold every call up while the heap is walked over.
    expect(text).not.toContain("nodejs_heap_space");
    expect(sampleOf("assay_directory_age_seconds")).toBeGreaterThanOrEqual(0);
    expect(sampleOf("assay_database_errors_total")).toBe(0);
    const gauges = [...text.matchAll(/^# TYPE (assay_\w+_total) gauge$/gm)];
    expect(gauges).toEqual([]);
  });

  test("200 counts the failures of the database, each once however often it is read", async () => {
    // Nothing looks into the database by itself meanwhile.
    using intervals = spyOn(globalThis, "setInterval").mockImplementation(() => setTimeout(() => {}, 0));
    await using server = await startTestServer();
    expect(intervals).toHaveBeenCalled();
    rmSync(join(server.dataDir, "assay.db"));
    await server.call("/health");
    for (let reading = 0; reading < 2; reading += 1) {
      const text = await (await server.call("/metrics")).text();
      expect(text).toContain("\nassay_database_errors_total 1\n");
    }
  });

  test("404 where the operator turns them off", async () => {
    await using server = await startTestServer({ environment: { METRICS: "off" } });
    expect(await refusalOf(await server.call("/metrics"))).toBe("404 not_found");
  });

  test.each(["true", "false"])("404 for a call through a proxy, with TRUST_PROXY=%s", async (trusted) => {
    await using server = await startTestServer({ environment: { TRUST_PROXY: trusted } });
    expect((await server.call("/metrics")).status).toBe(200);
    const passedOn = [
      { "X-Forwarded-For": "203.0.113.7" },
      { "X-Forwarded-For": "127.0.0.1" },
      { Forwarded: "for=127.0.0.1" },
      { Via: "1.1 proxy" },
      { "X-Real-IP": "::1" },
    ];
    for (const headers of passedOn) {
      expect(await refusalOf(await server.call("/metrics", { headers }))).toBe("404 not_found");
    }
  });

  test("200 for everyone where the operator makes them public", async () => {
    await using server = await startTestServer({ environment: { METRICS: "public" } });
    const headers = { "X-Forwarded-For": "203.0.113.7" };
    expect((await server.call("/metrics", { headers })).status).toBe(200);
  });

  test("200 anew at most once a second where anyone may read them, and each time where not", async () => {
    for (const [access, isShared] of [
      ["public", true],
      ["loopback", false],
    ] as const) {
      let shiftMs = 0;
      const clock = { now: systemClock.now, monotonic: () => shiftMs };
      await using server = await startTestServer({ clock, environment: { METRICS: access } });
      const read = async () => (await server.call("/metrics")).text();
      const first = await read();
      expect((await read()) === first).toBe(isShared);
      shiftMs += 1_000;
      expect((await read()) === first).toBeFalse();
    }
  });

  test("401 without the operator's token, wherever the caller is", async () => {
    const token = "prometheus-of-the-house";
    await using server = await startTestServer({ environment: { METRICS_TOKEN: token, METRICS: "public" } });
    expect(await refusalOf(await server.call("/metrics"))).toBe("401 missing_key");
    expect(await refusalOf(await server.call(`/metrics?access_token=${token}`))).toBe("401 missing_key");
    expect(await refusalOf(await server.call("/metrics", { key: `${token}s` }))).toBe("401 bad_key");
    const headers = { "X-Forwarded-For": "203.0.113.7" };
    expect((await server.call("/metrics", { key: token, headers })).status).toBe(200);
  });
});
