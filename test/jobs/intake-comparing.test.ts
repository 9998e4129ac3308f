import { expect, test } from "bun:test";
import { join } from "node:path";
import { apart, recordsOf } from "../../src/jobs/intake/chunk-rows.ts";
import { createDistinctRows } from "../../src/jobs/intake/distinct-rows.ts";
import type { IntakeReply } from "../../src/jobs/intake/intake-messages.ts";
import { createIntakeWorker } from "../../src/jobs/intake/intake-worker.ts";
import { createRowHashes } from "../../src/jobs/intake/row-hashes.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { handClock } from "../billing/accounting.ts";
import { temporaryFolder } from "../support/process.ts";

const STEP_ROWS = 65_536;
const ROWS = 600_000;

test("rows without text go to the file, too: memory holds some hundred thousand", () => {
  using folder = temporaryFolder("intake-comparing");
  using rows = createDistinctRows({ spillPath: join(folder.path, "none", "job_1.rows"), seed: 1 });
  expect(() => {
    for (let row = 0; row < ROWS; row++) rows.add(row, "");
  }).toThrow("ENOENT");
});

test("equal rows are compared in steps, and all but the first are duplicates, in memory and in the file", () => {
  using folder = temporaryFolder("intake-comparing");
  using rows = createDistinctRows({ spillPath: join(folder.path, "job_1.rows"), seed: 1 });
  for (let row = 0; row < ROWS; row++) rows.add(row, row === 7 ? "b" : "a");
  const duplicates = new Set<number>();
  let before = 0;
  let largestStep = 0;
  for (const _step of rows.findDuplicates((row) => duplicates.add(row))) {
    largestStep = Math.max(largestStep, duplicates.size - before);
    before = duplicates.size;
  }
  expect(duplicates.size).toBe(ROWS - 2);
  expect(duplicates.has(0) || duplicates.has(7)).toBe(false);
  expect(largestStep).toBeLessThanOrEqual(STEP_ROWS);
});

test("the rows that share their hash are found among as many that differ", () => {
  const hashes = createRowHashes([1, 2]);
  const encoder = new TextEncoder();
  const rowsEach = 150_000;
  for (const _time of [1, 2]) {
    for (let row = 0; row < rowsEach; row++) {
      const text = encoder.encode(`row ${row}`);
      hashes.add(text, 0, text.byteLength);
    }
  }
  const alone = encoder.encode("alone");
  hashes.add(alone, 0, alone.byteLength);
  const search = hashes.findShared();
  let step = search.next();
  while (step.done !== true) step = search.next();
  const bits = step.value.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  expect(bits).toBe(2 * rowsEach);
});

test("a text that is held for comparing keeps nothing of the chunk around it in memory", () => {
  const chunks = 200;
  const chunkBytes = 1_400_000;
  const body = Bun.zstdCompressSync(Buffer.from(`someone@example.com,${"x".repeat(chunkBytes)}\n`.repeat(2)));
  const held: string[] = [];
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  for (let n = 0; n < chunks; n++) {
    const [record = ""] = recordsOf({ form: "csv", body: new Uint8Array(body) });
    held.push(...apart([record.slice(0, 19)]));
    if (n % 20 === 0) Bun.gc(true);
  }
  Bun.gc(true);
  expect(process.memoryUsage.rss() - before).toBeLessThan((chunks * chunkBytes) / 2);
  expect(new Set(held)).toEqual(new Set(["someone@example.com"]));
});

/** Reads one input of each tenant, named by its number; returns the order in which they were compared, and how many at a time. */
async function compared(tenants: readonly string[], givenUp: readonly number[] = []) {
  const piece = new TextEncoder().encode("a\n".repeat(40_000));
  const isReleased = Promise.withResolvers<void>();
  const bodies = tenants.map((): Uint8Array[] => []);
  const hasPiece = tenants.map(() => true);
  const comparing = new Set<number>();
  const done: number[] = [];
  const failures: string[] = [];
  let mostAtOnce = 0;
  const answer = (reply: IntakeReply) => {
    const { input } = reply;
    if ("wants" in reply) {
      worker.receive({ input, piece: hasPiece[input] === true ? piece.slice() : null });
      hasPiece[input] = false;
    } else if ("chunks" in reply) for (const { n, body } of reply.chunks) bodies[input]?.splice(n, 1, body);
    else if ("wantsChunk" in reply) {
      comparing.add(input);
      mostAtOnce = Math.max(mostAtOnce, comparing.size);
      // Those that wait are given up while one is compared.
      for (const one of givenUp) worker.receive({ input: one, abort: true });
      worker.receive({ input, chunkBody: new Uint8Array(bodies[input]?.[reply.wantsChunk] ?? []) });
    } else {
      comparing.delete(input);
      if ("failed" in reply) failures.push(reply.failed);
      else done.push(input);
    }
  };
  const worker = createIntakeWorker(
    createFairTurns(handClock().monotonic),
    (reply) => setImmediate(answer, reply),
    () => setImmediate(isReleased.resolve),
  );
  for (const [input, tenant] of tenants.entries()) {
    worker.receive({
      input,
      begin: {
        ...{ tenant, form: "text", kind: "email", rowsMax: 1_000_000, bytesMax: 1_000_000_000 },
        ...{ column: null, delimiter: null, encoding: null, spillPath: "", seeds: [1, 2] },
      },
    });
  }
  await isReleased.promise;
  return { done, failures, mostAtOnce };
}

test("two inputs are compared at a time, and one of an account: its others hold nobody else up", async () => {
  const { done, failures, mostAtOnce } = await compared([
    ...Array.from({ length: 12 }, () => "acc_many"),
    "acc_one",
  ]);
  expect(failures).toEqual([]);
  expect(mostAtOnce).toBe(2);
  expect(done.length).toBe(13);
  expect(done.indexOf(12)).toBeLessThan(3);
});

test("inputs that are given up while they wait to be compared leave their places", async () => {
  const { done, failures } = await compared(["acc_many", "acc_many", "acc_many", "acc_many"], [1, 2]);
  expect(failures).toEqual([]);
  expect(done).toEqual([0, 3]);
});
