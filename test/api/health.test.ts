import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import type { HealthBody } from "../../src/contract/specification/service/service-replies.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startTestServer } from "../support/server.ts";

describe("GET /healthz", () => {
  test("200 means that the process is alive, without a key", async () => {
    await using server = await startTestServer();
    const reply = await server.call("/healthz");
    expect(await reply.text()).toBe('{"status":"alive"}');
    expect(reply.headers.get("x-request-id")).toStartWith("req_");
  });

  test("405 for another method", async () => {
    await using server = await startTestServer();
    expect(await refusalOf(await server.call("/healthz", { body: {} }))).toBe("405 method_not_allowed");
  });
});

describe("GET /health", () => {
  test("200 healthy: every component was probed and reports its measure", async () => {
    await using server = await startTestServer();
    const reply = await server.call("/health");
    expect(reply.status).toBe(200);
    const body = await jsonOf<HealthBody>(reply);
    expect(Object.keys(body)).toEqual(["status", "version", "uptime_s", "checks"]);
    expect(body.version).toBe(version);
    expect(Object.keys(body.checks)).toEqual([
      "database",
      "dns",
      "worker_pool",
      "directory",
      "disk",
      "job_queue",
      "store_space",
    ]);
    expect(body.checks.job_queue).toMatchObject({ status: "pass", observed: 0, unit: "s" });
    expect(body.checks.store_space).toMatchObject({ status: "pass", observed: 0, unit: "MB" });
    for (const part of ["database", "dns", "worker_pool"]) {
      expect(body.checks[part]).toMatchObject({ status: "pass", observed: expect.any(Number), unit: "ms" });
    }
    for (const { time } of Object.values(body.checks)) expect(new Date(time).toISOString()).toBe(time);
  });

  test("200 degraded where the DNS does not answer: calls go on", async () => {
    await using server = await startTestServer({
      zone: "* !silent",
      environment: { DNS_TIMEOUT_MS: "200" },
    });
    const reply = await server.call("/health");
    expect(reply.status).toBe(200);
    const { status, checks } = await jsonOf<HealthBody>(reply);
    expect(status).toBe("degraded");
    expect(checks.dns).toMatchObject({ status: "warn", output: expect.any(String) });
  });

  test("503 failing where calls cannot be charged, with a Retry-After", async () => {
    await using server = await startTestServer();
    rmSync(join(server.dataDir, "assay.db"));
    const reply = await server.call("/health");
    expect(reply.status).toBe(503);
    expect(reply.headers.get("retry-after")).toBe("1");
    const { status, checks } = await jsonOf<HealthBody>(reply);
    expect(status).toBe("failing");
    expect(checks.database).toMatchObject({ status: "fail", output: expect.any(String) });
    expect((await server.call("/healthz")).status).toBe(200);
  });

  test("503 failing while the clock is in doubt: it says why, and calls that cost something are refused", async () => {
    let now = Date.parse("2026-11-20T10:00:00Z");
    await using server = await startTestServer({
      clock: { now: () => now, monotonic: systemClock.monotonic },
    });
    const key = await server.signUp();
    now = Date.parse("2027-10-20T10:00:00Z");
    const reply = await server.call("/health");
    expect(reply.status).toBe(503);
    const { checks } = await jsonOf<HealthBody>(reply);
    expect(checks.database).toMatchObject({ status: "fail", observed: 334, unit: "days" });
    expect(checks.database?.output).toStartWith("The clock shows 2027-10-20, 334 days past");
    const check = await server.call("/v1/phone/validate?phone=%2B442079460000", { key });
    expect(check.headers.get("retry-after")).toBe("60");
    expect(await refusalOf(check)).toBe("503 storage_unavailable");
    expect((await server.call("/v1/account", { key })).status).toBe(200);
  });

  test("calls within a second share one answer", async () => {
    await using server = await startTestServer();
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.call("/health")));
    const times = await Promise.all(
      answers.map(async (reply) => (await jsonOf<HealthBody>(reply)).checks.database?.time),
    );
    expect(new Set(times).size).toBe(1);
  });
});
