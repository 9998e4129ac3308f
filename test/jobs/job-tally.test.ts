import { expect, test } from "bun:test";
import { createJobTally } from "../../src/jobs/job-tally.ts";
import { handClock } from "../billing/accounting.ts";
import { jsonOf } from "../support/json.ts";
import { startTestServer } from "../support/server.ts";

const job = (
  status: "queued" | "running" | "paused" | "completed",
  jobId = "job_1",
  accountId = "acc_1",
) => ({
  jobId,
  accountId,
  status,
});

test("the wait is that of the account that has been longest without a running chunk", async () => {
  const clock = handClock();
  const tally = createJobTally(clock);
  expect(tally.stats().oldestWaitMs).toBe(0);
  tally.changed(job("queued"));
  clock.advance(300);
  tally.changed(job("queued", "job_2", "acc_2"));
  clock.advance(700);
  expect(tally.stats().oldestWaitMs).toBe(1_000);
  const gate = Promise.withResolvers<"finished">();
  const run = tally.run("acc_1", 1, () => gate.promise);
  clock.advance(1_000);
  expect(tally.stats().oldestWaitMs).toBe(1_700);
  tally.changed(job("paused", "job_2", "acc_2"));
  expect(tally.stats().oldestWaitMs).toBe(0);
  gate.resolve("finished");
  await run;
  clock.advance(5);
  expect(tally.stats().oldestWaitMs).toBe(5);
  tally.changed(job("completed"));
  expect(tally.stats()).toEqual({
    ended: { completed: 1, failed: 0, cancelled: 0 },
    chunks: { finished: 1, out_of_units: 0, failed: 0 },
    chunkRetries: 0,
    oldestWaitMs: 0,
  });
});

test("an account whose chunks other processes have leased does not wait", () => {
  const clock = handClock();
  const tally = createJobTally(clock);
  tally.seen([job("running"), job("running", "job_2", "acc_2")]);
  clock.advance(1_000);
  tally.inWorkElsewhere(["acc_1", "acc_unknown"]);
  clock.advance(500);
  expect(tally.stats().oldestWaitMs).toBe(1_500);
  tally.inWorkElsewhere(["acc_1", "acc_2"]);
  expect(tally.stats().oldestWaitMs).toBe(0);
});

test("a later attempt of a chunk counts as a retry, and a failed chunk is counted and rethrown", async () => {
  const tally = createJobTally(handClock());
  const failing = tally.run("acc_1", 1, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  await tally.run("acc_1", 2, async () => "out_of_units");
  expect(tally.stats()).toMatchObject({
    chunks: { finished: 0, out_of_units: 1, failed: 1 },
    chunkRetries: 1,
  });
});

test("/metrics has jobs, their chunks and the deliveries of their events", async () => {
  const gate = Promise.withResolvers<void>();
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      gate.resolve();
      return new Response();
    },
  });
  await using server = await startTestServer({ environment: { WEBHOOK_ALLOW_PRIVATE: "true" } });
  const key = await server.signUp();
  await server.call("/v1/webhooks", {
    key,
    body: { url: `http://127.0.0.1:${receiver.port}/`, events: ["job.completed"] },
  });
  const created = await server.call("/v1/jobs", { key, body: { items: ["a@good.com", "b@good.com"] } });
  const { job_id } = await jsonOf<{ job_id: string }>(created);
  await (await server.call(`/v1/jobs/${job_id}/events`, { key })).text();
  await gate.promise;
  const read = async () => {
    const text = await (await server.call("/metrics")).text();
    return (sample: string) => Number(text.split(`\n${sample} `)[1]?.split("\n")[0]);
  };
  while ((await read())('assay_webhook_attempts_total{outcome="delivered"}') === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const sampleOf = await read();
  expect({
    ended: sampleOf('assay_jobs_ended_total{state="completed"}'),
    running: sampleOf('assay_jobs{state="running"}'),
    chunks: sampleOf('assay_job_chunks_total{outcome="finished"}'),
    retries: sampleOf("assay_job_chunk_retries_total"),
    inWork: sampleOf("assay_job_chunks_in_work"),
    age: sampleOf("assay_job_queue_age_seconds"),
    delivered: sampleOf('assay_webhook_attempts_total{outcome="delivered"}'),
    inFlight: sampleOf("assay_webhook_in_flight"),
    deliveryAge: sampleOf("assay_webhook_queue_age_seconds"),
  }).toEqual({
    ended: 1,
    running: 0,
    chunks: 1,
    retries: 0,
    inWork: 0,
    age: 0,
    delivered: 1,
    inFlight: 0,
    deliveryAge: 0,
  });
  expect(sampleOf('assay_database_bytes{kind="used"}')).toBeGreaterThan(100_000);
});
