import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../support/caller.ts";
import { startFaultServer, startFileFaultServer } from "../support/fault-server.ts";
import { openStalled, requestText } from "../support/raw-http.ts";

setDefaultTimeout(120_000);

const ITEMS = 100_000;
const STALL_SECONDS = 2;
/** A connection on which nothing moves is closed after this time. */
const SILENCE_SECONDS_MAX = 10;
const STEADY_BYTES_PER_MS = 700;
const PAUSE_MS = 2_500;
/** More than the kernels of both ends hold, so that the server waits in each pause. */
const PIECE_BYTES = 7_000_000;
const MEGABYTE = 1_048_576;
/** What the kernels of both ends and the window of chunks may hold of a reply of 35 MB. */
const MEMORY_MB_MAX = 80;

const { server, caller } = await startFileFaultServer("readers", {
  READER_STALL_SECONDS: `${STALL_SECONDS}`,
  LOG_LEVEL: "info",
});

const bodyOf = (items: number) =>
  JSON.stringify({ emails: Array.from({ length: items }, (_, at) => `a${at}@good.com`), dns: false });

const batchOf = (key: string, items: number, ...headers: string[]) =>
  requestText("/v1/email/batch", { key, body: bodyOf(items), headers });

async function batchesUnderWay(): Promise<number> {
  const text = await (await caller.call("/metrics")).text();
  return Number(/^assay_batches_under_way (\d+)/m.exec(text)?.[1]);
}

type BatchReport = { readonly route: string; readonly units: number; readonly outcome: string };

/** The report of an account's only batch, once it is written, with the units that the account was charged. */
async function reportOf(key: string): Promise<Partial<BatchReport>> {
  let found: BatchReport | undefined;
  await until("report of the batch", async () => {
    const accountUnits = await caller.unitsOf(key);
    found = server
      .logged()
      .map((line): BatchReport => JSON.parse(line))
      .findLast(({ route, units }) => route === "/v1/email/batch" && units === accountUnits);
    return found !== undefined;
  });
  return found ?? {};
}

describe("a reader that", () => {
  test("stops reading stops the work: memory stays flat, it is disconnected, and only what was verified is charged", async () => {
    const key = await caller.signUp();
    const whole = await caller.call("/v1/email/batch", { key, body: bodyOf(ITEMS) });
    await whole.arrayBuffer();
    expect(await caller.unitsOf(key)).toBe(ITEMS);

    const stalledKey = await caller.signUp();
    const beforeBytes = await server.rssBytes();
    let mostBytes = 0;
    using reader = openStalled(server.url, batchOf(stalledKey, ITEMS), 100_000);
    await until("first bytes", () => reader.bytes() > 0);
    const startedMs = performance.now();
    await until(
      "end of the batch",
      async () => {
        mostBytes = Math.max(mostBytes, await server.rssBytes());
        return (await batchesUnderWay()) === 0;
      },
      (STALL_SECONDS + 5) * 1000,
    );
    expect(performance.now() - startedMs).toBeGreaterThan(STALL_SECONDS * 1000 - 500);
    const grownMb = Math.round((mostBytes - beforeBytes) / MEGABYTE);
    const { units = 0, outcome } = await reportOf(stalledKey);
    process.stdout.write(
      `a reader that stops: ${units} of ${ITEMS} judged and charged, memory +${grownMb} MB\n`,
    );
    expect(grownMb).toBeLessThan(MEMORY_MB_MAX);
    expect(units).toBeGreaterThan(0);
    expect(units).toBeLessThan(ITEMS / 2);
    expect(units % 1000).toBe(0);
    expect(outcome).toBe("cut");

    await until("closed connection", () => {
      reader.readUpTo(Number.POSITIVE_INFINITY);
      return reader.isClosed();
    });
    expect(reader.end()).not.toContain("summary");
    expect(await caller.unitsOf(stalledKey)).toBe(units);
  });

  test("vanishes stops the work, and only what was verified is charged", async () => {
    const key = await caller.signUp();
    const reader = openStalled(server.url, batchOf(key, ITEMS), 100_000);
    await until("first bytes", () => reader.bytes() > 0);
    expect(await batchesUnderWay()).toBe(1);
    reader[Symbol.dispose]();
    await until("end of the batch", async () => (await batchesUnderWay()) === 0);
    const { units = 0, outcome } = await reportOf(key);
    expect(units).toBeGreaterThan(0);
    expect(units).toBeLessThan(ITEMS / 2);
    expect(outcome).toBe("cut");
    expect(await caller.unitsOf(key)).toBe(units);
  });

  test("vanishes before the first byte is charged for no more than was verified", async () => {
    const key = await caller.signUp();
    for (let count = 0; count < 10; count += 1) {
      const reader = openStalled(server.url, batchOf(key, 20_000), 0);
      await until("batch under way", async () => reader.bytes() > 0 || (await batchesUnderWay()) > 0);
      reader[Symbol.dispose]();
    }
    await until("end of all batches", async () => (await batchesUnderWay()) === 0);
    // A charge that was under way when its reader left still gets to the disk.
    let units = -1;
    await until("units that stand still", async () => {
      const before = units;
      units = await caller.unitsOf(key);
      return units === before;
    });
    expect(units).toBeLessThan(10 * 20_000);
    expect(await caller.unitsOf(key)).toBe(units);
  });

  test.concurrent("stops in a kept reply is disconnected, too, and the key replays the whole reply, uncharged", async () => {
    const key = await caller.signUp();
    using reader = openStalled(
      server.url,
      batchOf(key, ITEMS, "Idempotency-Key: kept\r\nAccept: */*"),
      100_000,
    );
    await until("first bytes", () => reader.bytes() > 0);
    await until("report of a whole batch", async () => (await caller.unitsOf(key)) === ITEMS);
    await until("given-up connection", async () => (await connections()) === 0, 20_000);
    await until("closed connection", () => {
      reader.readUpTo(Number.POSITIVE_INFINITY);
      return reader.isClosed();
    });
    const replay = await caller.call("/v1/email/batch", {
      key,
      body: bodyOf(ITEMS),
      headers: { "Idempotency-Key": "kept" },
    });
    expect(replay.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await replay.text()).slice(-100)).toContain(`"units_charged":${ITEMS}}}`);
    expect(await caller.unitsOf(key)).toBe(ITEMS);
  });

  test.concurrent("reads slowly but steadily gets all of it", async () => {
    await using patient = await startFaultServer("slow-readers");
    const { key } = patient;
    const readers = [
      openStalled(patient.server.url, batchOf(key, 30_000), 0),
      openStalled(patient.server.url, batchOf(key, 30_000, "Idempotency-Key: slow"), 0),
    ];
    const startedMs = performance.now();
    const reading = setInterval(() => {
      const allowed = (performance.now() - startedMs) * STEADY_BYTES_PER_MS;
      for (const reader of readers) reader.readUpTo(allowed);
    }, 100);
    await until("end of both replies", () => readers.every((reader) => reader.isClosed()), 40_000).finally(
      () => clearInterval(reading),
    );
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    process.stdout.write(`slow readers: ${readers.map((reader) => reader.bytes())} bytes in ${seconds} s\n`);
    expect(seconds).toBeGreaterThan(SILENCE_SECONDS_MAX);
    for (const reader of readers) expect(reader.end()).toContain('"units_charged":30000}}');
    expect(await patient.caller.unitsOf(key)).toBe(60_000);
  });

  test.concurrent("pauses for less than READER_STALL_SECONDS again and again gets all of a kept reply", async () => {
    await using faults = await startFaultServer("pausing-reader", { READER_STALL_SECONDS: "3" });
    using reader = openStalled(faults.server.url, batchOf(faults.key, ITEMS, "Idempotency-Key: paused"), 0);
    await until("first bytes", () => reader.bytes() > 0);
    const reading = setInterval(() => reader.readUpTo(reader.bytes() + PIECE_BYTES), PAUSE_MS);
    await until("end of the reply", () => reader.isClosed(), 60_000).finally(() => clearInterval(reading));
    expect(reader.end()).toContain(`"units_charged":${ITEMS}}}`);
  });
});

/** Connections that the server has open with somebody who is not the caller of this test's other requests. */
async function connections(): Promise<number> {
  const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, "0");
  const table = await Bun.file("/proc/net/tcp").text();
  return table.split("\n").filter((line) => {
    const [, local = "", , state, queues = ""] = line.trim().split(/\s+/);
    return local.endsWith(`:${port}`) && state === "01" && !queues.startsWith("00000000:");
  }).length;
}
