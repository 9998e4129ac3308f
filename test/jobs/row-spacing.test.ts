import { expect, test } from "bun:test";
import type { VerifyTask } from "../../src/batch/messages.ts";
import { createPool } from "../../src/batch/pool.ts";
import { createRowSpacing } from "../../src/jobs/chunks/row-spacing.ts";
import { GAP_MAX_MS } from "../../src/jobs/pace.ts";
import { createSharedGap } from "../../src/jobs/shared-gap.ts";
import { systemClock } from "../../src/platform/clock.ts";

const CHUNK_ROWS = 4_000;

const OBSERVED_FOR_MS = 100;

/** A thread that takes `rowMs` for a row, beside calls that are observed every 10 ms while `gapAt` has a gap. */
function openThread(rowMs: number, gapAt: (ms: number) => number | null, { tooLongMs = 0 } = {}) {
  let nowMs = 0;
  let restedMs = 0;
  const shared = createSharedGap();
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      const writeMs = Math.floor(nowMs / 10) * 10 + 10;
      nowMs = Math.min(endMs, writeMs);
      const gapMs = nowMs === writeMs ? gapAt(nowMs) : null;
      if (gapMs === null) continue;
      shared.write(gapMs);
      shared.noteCalls(OBSERVED_FOR_MS);
    }
  };
  const spaceRows = createRowSpacing({
    clock: { monotonic: () => nowMs },
    wait(ms) {
      restedMs += ms;
      pass(ms + tooLongMs);
    },
  });
  return {
    pass,
    shared,
    /** Verifies a chunk; returns how long it took and how much of that it rested. */
    chunk(rows = CHUNK_ROWS) {
      const beganMs = nowMs;
      restedMs = 0;
      const beforeRow = spaceRows(shared.memory);
      for (let row = 0; row < rows; row++) {
        beforeRow(row);
        pass(rowMs);
      }
      return { tookMs: nowMs - beganMs, restedMs };
    },
  };
}

test("beside calls a chunk is spread over half of the gap, and over no more", () => {
  const { pass, chunk } = openThread(0.01, () => GAP_MAX_MS);
  pass(50);
  const { tookMs } = chunk();
  expect(tookMs).toBeGreaterThan(GAP_MAX_MS * 0.49);
  expect(tookMs).toBeLessThanOrEqual(GAP_MAX_MS * 0.51);
});

test("rests that take too long are made up for", () => {
  for (const gapMs of [160, GAP_MAX_MS]) {
    const { pass, chunk } = openThread(0.01, () => gapMs, { tooLongMs: 3 });
    pass(50);
    const { tookMs } = chunk();
    expect(tookMs).toBeGreaterThan(gapMs * 0.49);
    expect(tookMs).toBeLessThanOrEqual(gapMs * 0.51 + 3);
  }
});

test("a short gap is kept, though its rests are less than a millisecond each", () => {
  const { pass, chunk } = openThread(0.01, () => 120);
  pass(50);
  const { tookMs } = chunk();
  expect(tookMs).toBeGreaterThan(58);
  expect(tookMs).toBeLessThan(62);
});

test("while somebody waits for a thread a chunk has no rests", () => {
  const { pass, chunk, shared } = openThread(0.01, () => GAP_MAX_MS);
  pass(50);
  {
    using _first = shared.hurry();
    {
      using _second = shared.hurry();
    }
    expect(chunk().restedMs).toBe(0);
  }
  expect(chunk().restedMs).toBeGreaterThan(0);
});

test("a chunk of few rows rests for its share of that", () => {
  const { pass, chunk } = openThread(0.01, () => GAP_MAX_MS);
  pass(50);
  expect(chunk(CHUNK_ROWS / 10).tookMs).toBeLessThanOrEqual(GAP_MAX_MS * 0.051);
  expect(chunk(32).restedMs).toBe(0);
});

test("without calls a chunk has no rests", () => {
  const { pass, chunk } = openThread(0.01, () => null);
  pass(50);
  expect(chunk().restedMs).toBe(0);
});

test("rows that take half of the gap by themselves have no rests", () => {
  const { pass, chunk } = openThread(0.01, () => 79);
  pass(50);
  expect(chunk().restedMs).toBe(0);
});

test("a chunk that calls find in work is spread from then on", () => {
  const { chunk } = openThread(0.01, (ms) => (ms < 20 ? null : GAP_MAX_MS));
  const { tookMs } = chunk();
  expect(tookMs).toBeGreaterThan(GAP_MAX_MS * 0.2);
  expect(tookMs).toBeLessThan(GAP_MAX_MS * 0.3);
});

test("rests end within a tenth of a second when the calls do", () => {
  const { pass, chunk } = openThread(0.01, (ms) => (ms < 200 ? GAP_MAX_MS : null));
  pass(50);
  expect(chunk().restedMs).toBeLessThan(250);
  expect(chunk().restedMs).toBe(0);
});

test("calls of an hour ago give a chunk no rests", () => {
  const { pass, chunk, shared } = openThread(0.01, (ms) => (ms < 100 ? GAP_MAX_MS : null));
  pass(3_600_000);
  shared.noteCalls(0);
  expect(chunk().restedMs).toBe(0);
});

test("rests follow the gap while a chunk is in work", () => {
  const { pass, chunk } = openThread(0.01, (ms) => (ms < 200 ? GAP_MAX_MS : 2));
  pass(50);
  expect(chunk().tookMs).toBeLessThan(250);
});

test("a thread of jobs rests between the rows of a task that names the gap, with the same results", async () => {
  await using pool = createPool({
    workerFile: new URL("../../workers/jobs.ts", import.meta.url).href,
    ...{ threads: 1, waitingMax: 10, taskTimeoutMs: 10_000, clock: systemClock },
  });
  const count = 160;
  const items = JSON.stringify(Array.from({ length: count }, (_, row) => `+4420794600${row}`));
  const given = { kind: "phone", items, count, duplicates: new Uint32Array(0), separator: "\n" } as const;
  const task: VerifyTask = { ...given, domainNumbers: null, facts: null, country: null, continues: false };
  const share = { tenant: "acc_1", weight: 1 };
  const at = async (more: Partial<VerifyTask>) => {
    const beganMs = performance.now();
    const { bytes } = await pool.run("verifyChunk", { ...task, ...more }, { share });
    return { tookMs: performance.now() - beganMs, text: new TextDecoder().decode(bytes) };
  };
  const atOnce = await at({});
  const shared = createSharedGap();
  shared.write(8_000);
  shared.noteCalls(10_000);
  const spread = await at({ gap: shared.memory });
  expect(spread.tookMs).toBeGreaterThan(90);
  expect(spread.text).toBe(atOnce.text);
  expect(spread.text.split("\n")).toHaveLength(count);
});
