import { expect, test } from "bun:test";
import type { Call } from "../../src/http/call.ts";
import { downloadOf } from "../../src/http/jobs/job-download.ts";
import type { Job } from "../../src/jobs/job.ts";

test("results that a filter skips are read no further once their caller has left", async () => {
  const leaving = new AbortController();
  const finished: unknown[][] = [];
  const call = {
    request: new Request("http://assay.test/", { signal: leaving.signal }),
    suspendIdleTimeout() {},
    finish: (...outcome: unknown[]) => finished.push(outcome),
    reportError() {},
    streaming: false,
  } as unknown as Call;
  const job = { jobId: "job_1", kind: "email", status: "completed", erasedAt: null } as Job;
  const reading = Promise.withResolvers<void>();
  const results = {
    length: async () => 0,
    async *read(_job: Job, _request: unknown, signal: AbortSignal) {
      const { promise, reject } = Promise.withResolvers<Uint8Array>();
      signal.addEventListener("abort", () => reject(signal.reason));
      reading.resolve();
      yield await promise;
    },
  };
  const reply = downloadOf(call, job, { status: "risky" }, { results, readerStallMs: 1_000 });
  await reading.promise;
  leaving.abort();
  await reply;
  expect(finished).toEqual([[200, "cut"]]);
});
