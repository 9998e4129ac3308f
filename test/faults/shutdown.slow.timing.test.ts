import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ERRORS } from "../../src/contract/errors.ts";
import { checkBooks } from "../billing/books.ts";
import { callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startFaultServer } from "../support/fault-server.ts";
import { type ServerProcess, startProcess } from "../support/process.ts";
import { openRaw, openStalled, rawCall, readReply, requestText } from "../support/raw-http.ts";

setDefaultTimeout(120_000);

const SLOW_CALLS = 60;
const BATCH_ITEMS = 100_000;
const GRACE_MS = 10_000;

const ZONE = `${FAULT_ZONE}*.slow.com MX 10 mx.good.com\n*.slow.com !delay 350\n`;

async function setUp(name: string, settings: { readonly [name: string]: string } = {}) {
  const faults = await startFaultServer(name, settings, ZONE);
  return {
    ...faults,
    /** What the books say that no process writes any more. */
    unitsOnDisk(): number {
      let units: number | undefined;
      checkBooks(join(faults.dataDir, "assay.db"), new Map(), (totals) => {
        expect(totals.size).toBe(1);
        units = [...totals.values()][0]?.units;
      });
      if (units === undefined) throw new Error("The books have no account");
      return units;
    },
  };
}

const batchRequest = (key: string) =>
  requestText("/v1/email/batch", {
    key,
    headers: ["Accept: application/x-ndjson"],
    body: JSON.stringify({
      emails: Array.from({ length: BATCH_ITEMS }, (_, at) => `a${at}@d${at % 100}.many.com`),
    }),
  });

/** Calls again and again, on a connection of its own each time, until refused; the units that were announced. */
async function callUntilRefused(server: ServerProcess, key: string): Promise<number> {
  for (let units = 0; ; units += 1) {
    const request = requestText("/v1/phone/validate?phone=%2B442079460000", { key });
    const reply = await rawCall(server.url, request).catch(() => null);
    if (reply === null || Number.isNaN(reply.status)) return units;
    if (reply.status === 200) continue;
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.body).error.code).toBe("shutting_down");
    expect(Number(reply.header("Retry-After"))).toBe(ERRORS.shutting_down.retryAfterSeconds);
    return units;
  }
}

describe("SIGTERM", () => {
  test("under load lets calls in flight finish, refuses new ones, and exits with 0 and everything on disk", async () => {
    await using run = await setUp("sigterm");
    const { server, key, dns } = run;
    using idle = await openRaw(server.url);
    idle.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    const slowNames = Array.from({ length: SLOW_CALLS }, (_, at) => `s${at}.slow.com`);
    const slowQuestions = () =>
      slowNames.reduce((total, name) => total + Math.min(1, dns.queryCount(name)), 0);
    const slow = slowNames.map((name) =>
      rawCall(server.url, requestText(`/v1/email/verify?email=a%40${name}`, { key })),
    );
    const batch = openStalled(server.url, batchRequest(key), Number.POSITIVE_INFINITY);
    const quick = Array.from({ length: 8 }, () => callUntilRefused(server, key));
    await until("batch under way", () => batch.bytes() > 0);
    await until("all calls in flight", () => slowQuestions() >= SLOW_CALLS);

    const startedMs = performance.now();
    server.child.kill("SIGTERM");
    const replies = await Promise.all(slow);
    const quickUnits = (await Promise.all(quick)).reduce((total, units) => total + units, 0);
    await until("end of the batch", () => batch.isClosed());
    await server.child.exited;
    const ms = Math.round(performance.now() - startedMs);
    expect(server.child.exitCode).toBe(0);
    for (const { status, header } of replies) expect([status, header("X-Units-Charged")]).toEqual([200, "1"]);
    expect(batch.end()).toContain(`"units_charged":${BATCH_ITEMS}`);
    expect(idle.isClosed()).toBeTrue();
    const announced = SLOW_CALLS + quickUnits + BATCH_ITEMS;
    process.stdout.write(`SIGTERM: ${announced} units announced, gone after ${ms} ms\n`);
    expect(run.unitsOnDisk()).toBe(announced);
    {
      await using next = await startProcess(run.environment);
      expect(await callerOf(next.url).unitsOf(key)).toBe(announced);
    }
    expect(server.logged()).toEqual([]);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  test("with nothing to do exits at once, idle connections or not", async () => {
    await using run = await setUp("sigterm-idle");
    const { server } = run;
    const idle = await Promise.all(Array.from({ length: 50 }, () => openRaw(server.url)));
    for (const connection of idle.slice(25)) {
      connection.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
    await until("answers", () => idle.slice(25).every((connection) => connection.received() !== ""));
    const startedMs = performance.now();
    expect(await server.end("SIGTERM")).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });

  test("ends the event stream of a waiting job completely, without waiting for its reader", async () => {
    await using run = await setUp("sigterm-events", { SHUTDOWN_GRACE_SECONDS: `${GRACE_MS / 1_000}` });
    const { server, key } = run;
    const { call } = callerOf(server.url);
    const emails = Array.from({ length: 400 }, (_, at) => `a@s${at}.slow.com`);
    const created = await call("/v1/jobs", { key, body: { kind: "email", items: emails } });
    const { job_id } = (await created.json()) as { readonly job_id: string };
    const paused = await call(`/v1/jobs/${job_id}/pause`, { key, method: "POST" });
    expect([created.status, paused.status]).toEqual([202, 200]);
    const events = await call(`/v1/jobs/${job_id}/events`, { key });
    const reader = events.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toContain('"status":"paused"');
    const startedMs = performance.now();
    expect(await server.end("SIGTERM")).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(GRACE_MS);
    expect((await reader?.read())?.done).toBe(true);
  });

  test("ends after its grace time, however slowly a client reads; what was verified is charged", async () => {
    await using run = await setUp("sigterm-grace", { SHUTDOWN_GRACE_SECONDS: "1" });
    const { server, key } = run;
    using reader = openStalled(server.url, batchRequest(key), 100_000);
    await until("first bytes", () => reader.bytes() > 0);
    const startedMs = performance.now();
    expect(await server.end("SIGTERM")).toBe(0);
    const ms = performance.now() - startedMs;
    expect(ms).toBeGreaterThan(900);
    expect(ms).toBeLessThan(4000);
    const units = run.unitsOnDisk();
    expect(units).toBeGreaterThan(0);
    expect(units).toBeLessThan(BATCH_ITEMS);
    expect(units % 1000).toBe(0);
  });

  test("while draining answers health as failing and everything else as shutting down", async () => {
    await using run = await setUp("sigterm-draining");
    const { server, key } = run;
    // Connections that were there before may still ask.
    const connections = await Promise.all(Array.from({ length: 4 }, () => openRaw(server.url)));
    using reader = openStalled(server.url, batchRequest(key), 100_000);
    await until("first bytes", () => reader.bytes() > 0);
    const asked = ["/health", "/healthz", "/v1/plans", "/v1/account"];
    for (const [at, connection] of connections.entries()) {
      connection.write(requestText(asked[at] ?? "", { key }).slice(0, 20));
    }
    server.child.kill("SIGTERM");
    await until("refusal of new connections", async () => {
      return rawCall(server.url, requestText("/healthz")).then(
        ({ status }) => Number.isNaN(status),
        () => true,
      );
    });
    for (const [at, connection] of connections.entries()) {
      if (!connection.isClosed()) connection.write(requestText(asked[at] ?? "", { key }).slice(20));
    }
    await until("answers", () => connections.every((each) => each.isClosed()));
    const statuses = connections.map((each) => readReply(each.received()).status);
    process.stdout.write(
      `while draining: ${asked.map((path, at) => `${path} ${statuses[at]}`).join(", ")}\n`,
    );
    for (const [at, expected] of [503, 200, 503, 503].entries()) {
      // A connection whose first bytes had not been looked at yet was idle, and closed as such.
      const wasIdle = connections[at]?.received() === "";
      if (!wasIdle) expect(statuses[at]).toBe(expected);
    }
    await server.end("SIGKILL");
  });

  test("that comes from the terminal and again from `bun run` lets calls in flight finish", async () => {
    await using run = await setUp("sigterm-group");
    const { server, key } = run;
    const batch = openStalled(server.url, batchRequest(key), Number.POSITIVE_INFINITY);
    await until("batch under way", () => batch.bytes() > 0);
    // Two that cannot become one on their way.
    server.child.kill("SIGTERM");
    server.child.kill("SIGINT");
    await until("end of the batch", () => batch.isClosed());
    await server.child.exited;
    expect(server.child.exitCode).toBe(0);
    expect(batch.end()).toContain(`"units_charged":${BATCH_ITEMS}`);
    expect(run.unitsOnDisk()).toBe(BATCH_ITEMS);
  });

  test("twice ends the process at once, and nothing that was announced is lost", async () => {
    await using run = await setUp("sigterm-twice");
    const { server, key } = run;
    const quick = Array.from({ length: 8 }, () => callUntilRefused(server, key));
    using reader = openStalled(server.url, batchRequest(key), 1_000_000);
    await until("first bytes", () => reader.bytes() > 0);
    server.child.kill("SIGTERM");
    const quickUnits = (await Promise.all(quick)).reduce((total, units) => total + units, 0);
    expect(server.child.exitCode).toBeNull();
    const startedMs = performance.now();
    // Again and again, as one that comes right after the first is taken for the first.
    await until("the end", () => {
      server.child.kill("SIGTERM");
      return server.child.exitCode !== null;
    });
    expect(performance.now() - startedMs).toBeLessThan(1000);
    expect(server.child.exitCode).toBe(1);
    const units = run.unitsOnDisk();
    // Whatever was read of the batch had been charged; beside it there are the calls that were answered.
    expect(units).toBeGreaterThan(quickUnits);
    expect((units - quickUnits) % 1000).toBe(0);
    expect(units - quickUnits).toBeLessThan(BATCH_ITEMS);
  });
});
