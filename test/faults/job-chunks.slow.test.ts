import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Job } from "../../src/client/contract-types.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { jsonOf } from "../support/json.ts";
import { type ServerProcess, startShiftedProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(120_000);

type Result = { readonly row: number; readonly email: string; readonly sub_status: string };

const folder = temporaryFolder("job-chunks");
let dns: Awaited<ReturnType<typeof startDns>>;
let server: ServerProcess;
let caller: Caller;

beforeAll(async () => {
  dns = await startDns(FAULT_ZONE);
  server = await startShiftedProcess({
    DATA_DIR: folder.path,
    DNS_SERVERS: dns.server.address,
    WORKER_THREADS: "2",
    TEST_BATCH_WORKER: new URL("../support/misbehaving-worker.ts", import.meta.url).href,
  });
  caller = callerOf(server.url);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function resultsOf(key: string, rows: readonly string[]): Promise<{ job: Job; results: Result[] }> {
  const created = await caller.call("/v1/jobs", {
    key,
    body: rows.join("\n"),
    headers: { "Content-Type": "text/plain" },
  });
  const { job_id } = await jsonOf<Job>(created);
  const events = await (await caller.call(`/v1/jobs/${job_id}/events`, { key })).text();
  const last = /^data: (.*)$/m.exec(events.trim().split("\n\n").at(-1) ?? "")?.[1] ?? "null";
  const reply = await caller.call(`/v1/jobs/${job_id}/results?format=json`, { key });
  return { job: JSON.parse(last), results: (await jsonOf<{ results: Result[] }>(reply)).results };
}

for (const where of ["open-worker-throws", "worker-throws"]) {
  test(`a row that breaks its chunk every time is check_failed and free, and no other is (${where})`, async () => {
    const key = await caller.signUp();
    const rows = Array.from({ length: 6_000 }, (_, at) =>
      at === 4_777 ? `${where}@good.com` : `one.${at}@good.com`,
    );
    const { job, results } = await resultsOf(key, rows);
    expect(job).toMatchObject({ status: "completed", units_charged: 5_999 });
    expect(job.counts).toMatchObject({ processed: 6_000, deliverable: 5_999, unknown: 1 });
    expect(results.map(({ row, email }) => [row, email])).toEqual(rows.map((row, at) => [at + 1, row]));
    const failed = results.filter(({ sub_status }) => sub_status === "check_failed");
    expect(failed.map(({ row }) => row)).toEqual([4_778]);
    expect(await caller.unitsOf(key)).toBe(5_999);
  });
}

test("where more than a few rows break a chunk, all that is left of the chunk is given up, and the rest of the job is not", async () => {
  const key = await caller.signUp();
  const rows = Array.from({ length: 5_000 }, (_, at) =>
    at >= 100 && at < 200 ? `open-worker-throws.${at}@good.com` : `one.${at}@good.com`,
  );
  const { job, results } = await resultsOf(key, rows);
  expect(job.status).toBe("completed");
  const verified = results.filter(({ sub_status }) => sub_status !== "check_failed").map(({ row }) => row);
  expect(verified.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(verified.slice(100)).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 4_001));
  expect(job.units_charged).toBe(verified.length);
});

test("failed look-ups are repeated once when the cached failure has expired, and their second outcome counts", async () => {
  const key = await caller.signUp();
  const chunksFinished = async () => {
    const metrics = await (await caller.call("/metrics")).text();
    return Number(/^assay_job_chunks_total\{outcome="finished"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  const before = await chunksFinished();
  dns.server.setFault("!servfail");
  const working = resultsOf(key, ["one@later.many.com", "two@later.many.com"]);
  await until("end of the first round", async () => (await chunksFinished()) > before);
  dns.server.setFault(null);
  const { job, results } = await working;
  expect(job).toMatchObject({
    status: "completed",
    units_charged: 2,
    counts: { deliverable: 2, unknown: 0 },
  });
  expect(results.map(({ row }) => row)).toEqual([1, 2]);
});
