import { expect, test } from "bun:test";
import type { Job } from "../../src/jobs/job.ts";
import { createJobResults } from "../../src/jobs/results/results.ts";
import type { JobPool } from "../../src/jobs/thread-tasks.ts";
import type { ChunkResults, JobStatus } from "../../src/store/job-records.ts";

const ROWS = 10;
/** The second chunk was never finished. */
const ROWS_DONE = [ROWS, 3, ROWS];

const chunksDone = ROWS_DONE.map(
  (rowsDone, n): ChunkResults => ({
    n,
    firstRow: n * ROWS,
    rows: ROWS,
    rowsDone,
    form: "text",
    lineBytes: 0,
  }),
);

const resultsOf = (
  chunks: readonly ChunkResults[],
  bodyOf = (_: number): readonly Uint8Array[] => [new Uint8Array(0)],
) =>
  createJobResults({
    store: {
      chunkResults: (_, from, limit) => chunks.filter(({ n }) => n >= from).slice(0, limit),
      resultBodies: (_, n) => bodyOf(n),
      inputBody: () => null,
    },
    pool: {
      runTwice: async (_: string, { firstRow }: { firstRow: number }) => ({
        bytes: new TextEncoder().encode(`${firstRow}\n`),
        rows: 1,
      }),
    } as unknown as JobPool,
  });

async function firstRowsOf(
  status: JobStatus,
  results = resultsOf(chunksDone),
  chunkCount = ROWS_DONE.length,
): Promise<string> {
  const named = { jobId: "job_1", accountId: "acc_1", kind: "email" };
  const job = { ...named, options: {}, table: null, status, chunkCount };
  const filter = { statuses: null, subStatuses: null };
  const request = { format: "ndjson", filter, fromByte: 0 } as const;
  let text = "";
  for await (const bytes of results.read(job as unknown as Job, request, new AbortController().signal)) {
    text += new TextDecoder().decode(bytes);
  }
  return text;
}

test.each(["running", "paused", "cancelling"] as const)(
  "rows after a gap are not read while a job is %s, as the gap will be filled",
  async (status) => expect(await firstRowsOf(status)).toBe("0\n10\n"),
);

test.each(["cancelled", "failed"] as const)(
  "all finished rows of a %s job are read, as they are paid for",
  async (status) => expect(await firstRowsOf(status)).toBe("0\n10\n20\n"),
);

const whole = (numbers: readonly number[]) =>
  numbers.map((n): ChunkResults => ({ ...chunksDone[0], n, rowsDone: ROWS }) as ChunkResults);

test.each([
  ["before they are listed", [2, 3], () => [new Uint8Array(0)]],
  ["at the end of the list", [0, 1, 2], () => [new Uint8Array(0)]],
  ["between the list and its rows", [0, 1, 2, 3], (n: number) => (n === 2 ? [] : [new Uint8Array(0)])],
  ["all of them", [], () => []],
] as const)(
  "results that are erased while they are read do not look complete: %s",
  async (_, numbers, bodyOf) => {
    const reading = firstRowsOf("completed", resultsOf(whole(numbers), bodyOf), 4);
    await expect(reading).rejects.toThrow("The results were erased while they were read.");
  },
);

const oneChunk: Parameters<typeof createJobResults>[0]["store"] = {
  chunkResults: (_, from) => whole([0]).slice(from),
  resultBodies: () => [new Uint8Array(0)],
  inputBody: () => null,
};

test("no thread rests while a chunk of results waits for one", async () => {
  const waiting: number[] = [];
  let waits = 0;
  const results = createJobResults({
    store: oneChunk,
    pool: {
      async runTwice() {
        waiting.push(waits);
        if (waiting.length === 2) throw new Error("the thread ended");
        return { bytes: new Uint8Array(3), rows: 1 };
      },
    } as unknown as JobPool,
    pace: {
      hurry() {
        waits += 1;
        return {
          [Symbol.dispose]() {
            waits -= 1;
          },
        };
      },
    },
  });
  await firstRowsOf("completed", results, 1);
  expect(waits).toBe(0);
  await expect(firstRowsOf("completed", results, 1)).rejects.toThrow("the thread ended");
  expect(waits).toBe(0);
  expect(waiting).toEqual([1, 1]);
});

test("a job whose CSV is being measured is not measured once more, however many others are", async () => {
  const rendering = Promise.withResolvers<void>();
  let rendered = 0;
  const results = createJobResults({
    store: oneChunk,
    pool: {
      runTwice: async () => {
        rendered += 1;
        await rendering.promise;
        return { bytes: new Uint8Array(3), rows: 1 };
      },
    } as unknown as JobPool,
  });
  const lengthOf = (n: number) => {
    const named = { jobId: `job_${n}`, accountId: "acc_1", kind: "email", status: "completed" };
    return results.length(
      { ...named, options: {}, table: null, chunkCount: 1 } as unknown as Job,
      "csv",
      () => ({
        [Symbol.dispose]() {},
      }),
    );
  };
  const lengths = [...Array.from({ length: 300 }, (_, n) => lengthOf(n)), lengthOf(0)];
  rendering.resolve();
  expect(new Set(await Promise.all(lengths)).size).toBe(1);
  expect(rendered).toBe(300);
});
