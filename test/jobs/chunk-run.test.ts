import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Chunk, VerifiedChunk } from "../../src/batch/messages.ts";
import type { Meter } from "../../src/billing/meter.ts";
import { type ChunkFacts, createChunkFacts } from "../../src/jobs/chunks/chunk-facts.ts";
import { createChunkRun } from "../../src/jobs/chunks/chunk-run.ts";
import type { OpenTask } from "../../src/jobs/chunks/chunk-work.ts";
import type { Job } from "../../src/jobs/job.ts";
import { createSharedGap } from "../../src/jobs/shared-gap.ts";
import type { JobPool } from "../../src/jobs/thread-tasks.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import type { ClaimedChunk, FinishedChunk } from "../../src/store/job-records.ts";

const ROWS = 10;
const JOB = {
  ...{ jobId: "job_1", accountId: "acc_1", kind: "email", round: 1, unitsPerItem: 1, isTest: false },
  ...{ table: null, options: { deep: false, dns: false, country: null, type: null } },
} as unknown as Job;
const { signal } = new AbortController();

const claimedChunk = (n: number, duplicates: Uint8Array | null = null): ClaimedChunk => ({
  ...{ n, firstRow: n * ROWS, rows: ROWS, form: "text", body: new Uint8Array(0), duplicates },
  ...{ rowsDone: 0, attempt: 1 },
});

const FACTS: ChunkFacts = { groupOf: () => ({ name: "1", find: () => null }), failuresExpireMs: () => 0 };

/** Chunks of an account with `units` units left, which are opened when the test says so. */
function chunksWith(units: number, turn: () => Promise<void> = async () => {}, facts = FACTS) {
  let left = units;
  /** Each chunk has a domain of its own. */
  let domainsBefore = 0;
  const finished: FinishedChunk[] = [];
  const kept: number[] = [];
  const { memory: gap } = createSharedGap();
  const opening: (() => void)[] = [];
  const meter = {
    enter: () => undefined,
    unitsLeft: () => left,
    reserve(_: unknown, held: number) {
      if (held > left) throw new Error("more than is left was held");
      left -= held;
      return {
        record: async ({ units: charged }: { units: number }, __: unknown, chunk: FinishedChunk) => {
          finished.push(chunk);
          expect(charged).toBe(held);
        },
        release: () => {},
      };
    },
  } as unknown as Pick<Meter, "enter" | "reserve" | "unitsLeft">;
  const pool = {
    async runTwice(task: string, { distinctMax, duplicates, uncheckedIn }: OpenTask) {
      if (task === "packJobResults") {
        return { body: new Uint8Array(1), lineBytes: 0, unchecked: 0, counts: {} };
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      opening.push(resolve);
      await promise;
      const repeats = duplicates === null ? [] : [1, 2];
      const rows = Array.from(
        { length: Math.min(ROWS, (uncheckedIn === null ? distinctMax : ROWS) + repeats.length) },
        (__, row) => row,
      );
      domainsBefore += 1;
      return {
        chunk: {
          ...{ count: rows.length, duplicates: repeats, domainNumbers: new Uint32Array(1) },
          newDomains: `${domainsBefore}.com`,
        } as unknown as Chunk,
        rows,
        place: { id: "1.1", domainsBefore: domainsBefore - 1 },
      };
    },
  } as unknown as JobPool;
  const run = createChunkRun({
    store: { resultBodies: () => [], keepUnchecked: ({ n }) => void kept.push(n) },
    pool,
    runner: {
      verifyChunk: (_kind, options) => async (chunk) => {
        expect(options.gap).toBe(gap);
        await options.turn?.();
        return {
          ...{ bytes: new Uint8Array(1), plain: { crc32: 0, byteLength: 1 }, counts: {}, failures: 0 },
          chargeable: chunk.count - chunk.duplicates.length,
        } as VerifiedChunk;
      },
    },
    facts,
    meter,
    threads: 2,
    pace: { turn, gap },
    turns: createFairTurns(systemClock.monotonic),
  });
  const give = (more: number) => {
    left += more;
  };
  return {
    run: (chunk: ClaimedChunk, job = JOB) => run(job, chunk, signal, () => {}),
    ...{ opening, finished, give, kept },
  };
}

test("the last units pay for the chunk that was claimed first, whichever is opened first", async () => {
  const { run, opening, finished } = chunksWith(ROWS + 4);
  const [first, second, third] = [run(claimedChunk(0)), run(claimedChunk(1)), run(claimedChunk(2))];
  await Bun.sleep(0);
  for (const open of opening.toReversed()) open();
  expect(await Promise.all([first, second, third])).toEqual(["finished", "finished", "out_of_units"]);
  const rows = finished.map(({ n, rowsDone, units }) => [n, rowsDone, units]);
  expect(rows.sort()).toEqual([
    [0, ROWS, ROWS],
    [1, 4, 4],
  ]);
});

test("no chunk begins after one without enough units, even where units are released again", async () => {
  const { run, opening, give } = chunksWith(4);
  const first = run(claimedChunk(0));
  await Bun.sleep(0);
  give(ROWS);
  expect(await run(claimedChunk(1))).toBe("out_of_units");
  for (const open of opening) open();
  expect(await first).toBe("finished");
});

test("duplicates use no units", async () => {
  const { run, opening, finished } = chunksWith(ROWS - 2);
  const all = run(claimedChunk(0, new Uint8Array([0b110, 0])));
  await Bun.sleep(0);
  for (const open of opening) open();
  expect([await all, finished[0]?.units, finished[0]?.rowsDone]).toEqual(["finished", ROWS - 2, ROWS]);
});

test("a chunk is verified once it may begin beside the calls, and aborted by what ends the wait", async () => {
  const turns: PromiseWithResolvers<void>[] = [];
  const { run, opening, finished } = chunksWith(ROWS * 2, () => {
    const turn = Promise.withResolvers<void>();
    turns.push(turn);
    return turn.promise;
  });
  const [first, second] = [run(claimedChunk(0)), run(claimedChunk(1))];
  await Bun.sleep(0);
  for (const open of opening) open();
  await Bun.sleep(0);
  expect([turns.length, finished.length]).toEqual([2, 0]);
  turns[0]?.resolve();
  expect([await first, finished.length]).toEqual(["finished", 1]);
  turns[1]?.reject(new Error("the process ends"));
  await expect(second).rejects.toThrow("the process ends");
  expect(finished.length).toBe(1);
});

test("a second look-up that the units left do not pay for is left out", async () => {
  const { run, opening, finished, kept } = chunksWith(ROWS - 1);
  const again = run({ ...claimedChunk(3), rowsDone: ROWS }, { ...JOB, round: 2 });
  while (opening.length === 0) await nextTurn();
  opening[0]?.();
  expect([await again, kept, finished]).toEqual(["finished", [3], []]);
});

test("a second look-up that is left out has its domains looked up, which the chunks behind it have by number", async () => {
  const asked: string[] = [];
  const lookedUp = Promise.withResolvers<void>();
  const facts = createChunkFacts({
    gatherFacts: () => async (chunk) => {
      asked.push(chunk.newDomains);
      await lookedUp.promise;
      return { buffers: [], offsets: new SharedArrayBuffer(0) };
    },
    ...{ clock: { monotonic: () => 1_000 }, lookupTimeoutMs: 50, failureMaxMs: 30_000 },
  });
  const { run, opening, give, finished, kept } = chunksWith(ROWS - 1, undefined, facts);
  const again = (n: number) => run({ ...claimedChunk(n), rowsDone: ROWS }, { ...JOB, round: 2 });
  const left = again(0);
  while (opening.length === 0) await nextTurn();
  opening[0]?.();
  while (asked.length === 0) await nextTurn();
  await nextTurn();
  // It has its place until then.
  expect(kept).toEqual([]);
  lookedUp.resolve();
  expect([await left, kept]).toEqual(["finished", [0]]);
  give(1);
  const paid = again(1);
  while (opening.length === 1) await nextTurn();
  opening[1]?.();
  expect([await paid, finished.map(({ n }) => n)]).toEqual(["finished", [1]]);
  expect(asked).toEqual(["1.com", "2.com"]);
});
