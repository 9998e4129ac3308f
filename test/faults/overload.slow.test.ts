import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { INTERACTIVE_WEIGHT, QueueFullError } from "../../src/batch/fair-queue.ts";
import { createPool, PoolTaskError } from "../../src/batch/pool.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Caller, FAULT_ZONE, until } from "../support/caller.ts";
import { startFaultServer } from "../support/fault-server.ts";
import { emailBatchOf } from "../support/json.ts";
import { refusalOf } from "../support/server.ts";

setDefaultTimeout(120_000);

const BATCHES_MAX = 3;
const BATCHES = 20;
const ITEMS = 40;

const share = { tenant: "one", weight: INTERACTIVE_WEIGHT };

test("batches above the limit get 503 with a Retry-After, uncharged; the others are answered", async () => {
  const zone = `${FAULT_ZONE}slow.com !delay 2000\nslow.com MX 10 mx.good.com\n`;
  const settings = { BATCHES_IN_FLIGHT_MAX: `${BATCHES_MAX}` };
  await using faults = await startFaultServer("overload", settings, zone);
  const { key } = faults;
  const { call, unitsOf, accountOf } = faults.caller;
  const emails = Array.from({ length: ITEMS }, (_, at) => `a${at}@slow.com`);
  const replies = await Promise.all(
    Array.from({ length: BATCHES }, () => call("/v1/email/batch", { key, body: { emails } })),
  );
  const answered = replies.filter(({ status }) => status === 200);
  expect(answered.length).toBe(BATCHES_MAX);
  for (const reply of answered) expect((await emailBatchOf(reply)).summary.units_charged).toBe(ITEMS);
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    expect(await refusalOf(reply)).toBe("503 overloaded");
    expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    expect(reply.headers.get("X-Units-Charged")).toBe("0");
  }
  expect(await unitsOf(key)).toBe(BATCHES_MAX * ITEMS);
  const { usage } = await accountOf(key);
  expect(usage.by_endpoint.find(({ endpoint }) => endpoint === "/v1/email/batch")?.calls).toBe(BATCHES_MAX);

  const later = await call("/v1/email/batch", { key, body: { emails } });
  expect((await emailBatchOf(later)).summary.units_charged).toBe(ITEMS);
});

describe("a caller who leaves a batch that waits for the DNS", () => {
  const settings = { DNS_TIMEOUT_MS: "30000" };
  const zone = `${FAULT_ZONE}*.silent.com !silent\nslow.com !delay 2000\nslow.com MX 10 mx.good.com\n`;

  async function batchesUnderWay({ call }: Caller): Promise<number> {
    const text = await (await call("/metrics")).text();
    return Number(/^assay_batches_under_way (\d+)/m.exec(text)?.[1]);
  }

  test.each([1, 50, 3000])("frees its place at once, and is charged nothing: %d items", async (items) => {
    await using faults = await startFaultServer("left-batches", settings, zone);
    const { key } = faults;
    const { call, unitsOf } = faults.caller;
    const underWay = () => batchesUnderWay(faults.caller);
    const gone = new AbortController();
    const emails = Array.from({ length: items }, (_, at) => `a@n${at}.silent.com`);
    const left = call("/v1/email/batch", { key, body: { emails }, signal: gone.signal });
    await until("batch under way", async () => (await underWay()) === 1);
    gone.abort();
    await expect(left).rejects.toThrow();
    await until("free place", async () => (await underWay()) === 0);
    expect(await unitsOf(key)).toBe(0);
    expect(faults.server.logged()).toEqual([]);
  });

  test("gets its reply when it repeats the call with its Idempotency-Key, charged once", async () => {
    await using faults = await startFaultServer("left-keyed-batch", settings, zone);
    const { key } = faults;
    const { call, unitsOf } = faults.caller;
    const gone = new AbortController();
    const body = { emails: ["a@slow.com", "b@slow.com"] };
    const send = (signal?: AbortSignal) =>
      call("/v1/email/batch", {
        key,
        body,
        headers: { "Idempotency-Key": "left" },
        ...(signal === undefined ? {} : { signal }),
      });
    const left = send(gone.signal);
    // Until it is there another with its key would be the one that runs.
    await until("call that runs", async () => (await batchesUnderWay(faults.caller)) === 1);
    expect((await send()).status).toBe(409);
    gone.abort();
    await expect(left).rejects.toThrow();
    let reply = await send();
    await until("reply", async () => {
      if (reply.status !== 200) reply = await send();
      return reply.status === 200;
    });
    expect(reply.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await emailBatchOf(reply)).summary.units_charged).toBe(2);
    expect(await unitsOf(key)).toBe(2);
  });
});

test("a pool whose queue is full refuses at once, and queued work is done", async () => {
  const waitingMax = 3;
  await using pool = createPool({
    workerFile: new URL("../support/misbehaving-worker.ts", import.meta.url).href,
    threads: 1,
    waitingMax,
    taskTimeoutMs: 2000,
    clock: systemClock,
  });
  const looping = pool.run(
    "verifyChunk",
    {
      kind: "phone",
      items: '["worker-loops"]',
      count: 1,
      duplicates: new Uint32Array(0),
      domainNumbers: null,
      facts: null,
      country: null,
      separator: ",",
      continues: false,
    },
    { share },
  );
  const waiting = Array.from({ length: waitingMax }, () => pool.run("ping", {}, { share }));
  await until("full queue", () => pool.stats().waiting === waitingMax);
  await expect(pool.run("ping", {}, { share })).rejects.toBeInstanceOf(QueueFullError);
  await expect(looping).rejects.toBeInstanceOf(PoolTaskError);
  expect(await Promise.all(waiting)).toEqual(["pong", "pong", "pong"]);
  expect(await pool.run("ping", {}, { share })).toBe("pong");
});

test("a pool that was closed before its threads had started runs nothing", async () => {
  const pool = createPool({
    workerFile: new URL("../support/misbehaving-worker.ts", import.meta.url).href,
    threads: 1,
    waitingMax: 1,
    taskTimeoutMs: 5000,
    clock: systemClock,
  });
  await pool[Symbol.asyncDispose]();
  await expect(pool.run("ping", {}, { share })).rejects.toBeInstanceOf(PoolTaskError);
});

test("an aborted wait for a thread leaves the queue", async () => {
  await using pool = createPool({
    workerFile: new URL("../support/misbehaving-worker.ts", import.meta.url).href,
    threads: 1,
    waitingMax: 1,
    taskTimeoutMs: 5000,
    clock: systemClock,
  });
  const gone = new AbortController();
  const first = pool.run("ping", {}, { share });
  const second = pool.run("ping", {}, { share, signal: gone.signal });
  expect(pool.stats().waiting).toBe(1);
  gone.abort();
  await expect(second).rejects.toThrow("aborted");
  expect(pool.stats().waiting).toBe(0);
  expect(await first).toBe("pong");
});
