import { expect, test } from "bun:test";
import type { Job } from "../../src/jobs/job.ts";
import { createJobResults } from "../../src/jobs/results.ts";
import type { JobPool } from "../../src/jobs/thread-tasks.ts";
import type { ChunkResults, JobStatus } from "../../src/store/job-port.ts";

const ROWS = 10;
/** The second chunk was never finished. */
const ROWS_DONE = [ROWS, 3, ROWS];

const results = createJobResults({
  store: {
    chunkResults: (_, from) =>
      ROWS_DONE.map(
        (rowsDone, n): ChunkResults => ({
          n,
          firstRow: n * ROWS,
          rows: ROWS,
          rowsDone,
          form: "text",
          lineBytes: 0,
        }),
      ).slice(from),
    resultBodies: () => [],
    inputBody: () => null,
  },
  pool: {
    runTwice: async (_: string, { firstRow }: { firstRow: number }) => ({
      bytes: new TextEncoder().encode(`${firstRow}\n`),
      rows: 1,
    }),
  } as unknown as JobPool,
});

async function firstRowsOf(status: JobStatus): Promise<string> {
  const job = { jobId: "job_1", accountId: "acc_1", kind: "email", options: {}, table: null, status };
  const filter = { statuses: null, subStatuses: null };
  const request = { format: "ndjson", filter, fromByte: 0 } as const;
  let text = "";
  for await (const bytes of results.read(job as unknown as Job, request, new AbortController().signal)) {
    text += new TextDecoder().decode(bytes);
  }
  return text;
}

test.each(["running", "paused", "cancelling"] as const)(
  "what a job has finished behind a gap is not read while it is %s, as the gap will be filled",
  async (status) => expect(await firstRowsOf(status)).toBe("0\n10\n"),
);

test.each(["cancelled", "failed"] as const)(
  "all that a %s job has finished is read: it is paid for",
  async (status) => expect(await firstRowsOf(status)).toBe("0\n10\n20\n"),
);
