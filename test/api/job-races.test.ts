import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import type { CreatedKey, Job, JobPage } from "../../src/client/contract-types.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startFileServer, startTestServer, TEST_ZONE } from "../support/server.ts";

const server = await startFileServer({ zone: `${TEST_ZONE}silent.com !silent\n` });

const TEXT = { "Content-Type": "text/plain" };
const rows = (name: string, count: number) =>
  new TextEncoder().encode(Array.from({ length: count }, (_, at) => `${name}${at}@good.com\n`).join(""));

/** A body whose second half comes once `goOn` is called. */
function heldBody(first: Uint8Array, second: Uint8Array) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(first);
      await promise;
      controller.enqueue(second);
      controller.close();
    },
  });
  return { body, goOn: resolve };
}

function post(key: string, body: ReadableStream<Uint8Array>, headers: { readonly [name: string]: string }) {
  return fetch(`${server.url}/v1/jobs`, {
    method: "POST",
    body,
    headers: { ...TEXT, Authorization: `Bearer ${key}`, ...headers },
  });
}

const jobsOf = async (key: string) => (await jsonOf<JobPage>(await server.call("/v1/jobs", { key }))).data;

/** How many rows the tables of chunks have. */
function storedChunks(): readonly number[] {
  using database = new Database(join(server.dataDir, "assay.db"), { readonly: true });
  const tables = ["job_chunks", "job_inputs", "job_results"];
  return tables.map((table) => database.query(`SELECT * FROM ${table}`).values().length);
}

test.each([10, 50_000])(
  "a job that is deleted while its %d rows arrive leaves nothing on the disk, and its call is 404",
  async (count) => {
    const key = await server.signUp();
    const before = storedChunks();
    const { body, goOn } = heldBody(rows("a", count), rows("b", count));
    const call = post(key, body, {});
    await until("the job", async () => (await jobsOf(key)).length === 1);
    const [job] = await jobsOf(key);
    const path = `/v1/jobs/${job?.job_id}`;
    if (count > 4_000) await until("the first rows", () => !Bun.deepEquals(storedChunks(), before));
    expect((await server.call(path, { key, method: "DELETE" })).status).toBe(204);
    expect(await refusalOf(await server.call(path, { key }))).toBe("404 not_found");
    goOn();
    expect(await refusalOf(await call)).toBe("404 not_found");
    expect(storedChunks()).toEqual(before);
  },
);

test("an input that falls silent is aborted, and its job no longer counts", async () => {
  await using patient = await startTestServer({ environment: { READER_STALL_SECONDS: "1" } });
  const key = await patient.signUp("free");
  const { body, goOn } = heldBody(rows("a", 5), rows("b", 5));
  const headers = { ...TEXT, Authorization: `Bearer ${key}` };
  const reply = await fetch(`${patient.url}/v1/jobs`, { method: "POST", body, headers });
  expect(await refusalOf(reply)).toBe("400 invalid_request");
  goOn();
  const next = await patient.call("/v1/jobs", { key, body: "a@good.com\n", headers: TEXT });
  expect(next.status).toBe(202);
});

test("an input that a failing disk breaks off is 503, and its job no longer counts once the disk is well", async () => {
  await using failing = await startTestServer();
  const key = await failing.signUp("free");
  const { body, goOn } = heldBody(rows("a", 5), rows("b", 5));
  const headers = { ...TEXT, Authorization: `Bearer ${key}` };
  const call = fetch(`${failing.url}/v1/jobs`, { method: "POST", body, headers });
  const jobs = async () => (await jsonOf<JobPage>(await failing.call("/v1/jobs", { key }))).data;
  await until("the job", async () => (await jobs()).length === 1);
  const file = join(failing.dataDir, "assay.db");
  renameSync(file, `${file}.away`);
  goOn();
  expect(await refusalOf(await call)).toBe("503 storage_unavailable");
  renameSync(`${file}.away`, file);
  const next = () => failing.call("/v1/jobs", { key, body: "a@good.com\n", headers: TEXT });
  // A try in between has the next one half a minute later.
  await until("the place of the job", async () => (await next()).status === 202, 45_000);
});

test("an upload that is deleted during its start is gone, and the start is 404 or came first", async () => {
  const key = await server.signUp();
  const before = storedChunks();
  for (let round = 0; round < 8; round++) {
    const made = await server.call("/v1/jobs?upload=parts", { key, method: "POST" });
    const path = `/v1/jobs/${(await jsonOf<Job>(made)).job_id}`;
    const part = { key, method: "PUT", body: rows("p", 1 + round * 3_000), headers: TEXT };
    expect((await server.call(`${path}/parts/1`, part)).status).toBe(204);
    const [start, remove] = await Promise.all([
      server.call(`${path}/start`, { key, method: "POST" }),
      server.call(path, { key, method: "DELETE" }),
    ]);
    expect(remove.status).toBe(204);
    if (start.status !== 202) expect(await refusalOf(start)).toBe("404 not_found");
    expect(await refusalOf(await server.call(path, { key }))).toBe("404 not_found");
  }
  // What had begun is cancelled first, and erased by the upkeep.
  await until("end of the data", () => Bun.deepEquals(storedChunks(), before), 45_000);
});

test("calls that race under one Idempotency-Key make one job, where the plan allows no more than one", async () => {
  const key = await server.signUp("free");
  const held = Array.from({ length: 3 }, () => heldBody(rows("a", 5), rows("b", 5)));
  const calls = held.map(({ body }) => post(key, body, { "Idempotency-Key": "import" }));
  await until("all of them", async () => (await jobsOf(key)).length === held.length);
  for (const { goOn } of held) goOn();
  const replies = await Promise.all(calls);
  const made = replies.filter(({ status }) => status === 202);
  const refused = replies.filter(({ status }) => status !== 202);
  const ids = await Promise.all(made.map(async (reply) => (await jsonOf<Job>(reply)).job_id));
  expect(new Set(ids).size).toBe(1);
  for (const reply of refused) expect(await refusalOf(reply)).toBe("409 idempotency_in_progress");
  expect((await jobsOf(key)).map(({ job_id }) => job_id)).toEqual(ids.slice(0, 1));
});

test("a job is paused or resumed once per Idempotency-Key, and again under another", async () => {
  const key = await server.signUp();
  // The DNS keeps it running until all calls are made.
  const made = await server.call("/v1/jobs", { key, body: "a@silent.com\n", headers: TEXT });
  const path = `/v1/jobs/${(await jsonOf<Job>(made)).job_id}`;
  const steer = (verb: string, idempotencyKey: string) =>
    server.call(`${path}/${verb}`, { key, method: "POST", headers: { "Idempotency-Key": idempotencyKey } });
  const paused = await steer("pause", "first");
  expect(paused.status).toBe(200);
  const text = await paused.text();
  expect(JSON.parse(text)).toMatchObject({ status: "paused", status_reason: "by_caller" });
  expect((await steer("resume", "second")).status).toBe(200);
  const again = await steer("pause", "first");
  expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([
    200,
    "true",
    text,
  ]);
  expect(await jsonOf<Job>(await server.call(path, { key }))).not.toMatchObject({ status: "paused" });
  expect(await refusalOf(await steer("cancel", "second"))).toBe("422 idempotency_mismatch");
  expect(await refusalOf(await steer("pause", "x".repeat(256)))).toBe("400 invalid_request");
});

test("an account may send 64 parts at a time; the next is 503, and is accepted once one has ended", async () => {
  const key = await server.signUp();
  const made = await server.call("/v1/jobs?upload=parts", { key, method: "POST" });
  const path = `/v1/jobs/${(await jsonOf<Job>(made)).job_id}`;
  const put = (n: number, body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>) =>
    fetch(`${server.url}${path}/parts/${n}`, {
      method: "PUT",
      body,
      headers: { ...TEXT, Authorization: `Bearer ${key}` },
    });
  const held = Array.from({ length: 65 }, () => heldBody(rows("a", 1), rows("b", 1)));
  const calls = held.map(({ body }, at) => put(at + 1, body));
  const [refused, last] = await Promise.race(calls.map(async (call, at) => [await call, at] as const));
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect([refused.status, await jsonOf<object>(refused)]).toEqual([
    503,
    { error: { code: "overloaded", message: "Too many parts are arriving at once; try again shortly." } },
  ]);
  const other = last === 0 ? 1 : 0;
  held[other]?.goOn();
  expect((await calls[other])?.status).toBe(204);
  expect((await put(last + 1, rows("c", 1))).status).toBe(204);
  for (const { goOn } of held) goOn();
  const taken = (await Promise.all(calls)).filter(({ status }) => status === 204);
  expect(taken).toHaveLength(64);
});

test("a stream of events ends with its key, while the job goes on", async () => {
  const key = await server.signUp();
  const made = await server.call("/v1/jobs", { key, body: "a@silent.com\n", headers: TEXT });
  const path = `/v1/jobs/${(await jsonOf<Job>(made)).job_id}`;
  // Paused, it is never finished.
  expect((await server.call(`${path}/pause`, { key, method: "POST" })).status).toBe(200);
  const other = await jsonOf<CreatedKey>(await server.call("/v1/account/keys", { key, body: {} }));
  const streamed = await server.call(`${path}/events`, {
    key: other.api_key,
    signal: AbortSignal.timeout(10_000),
  });
  const text = streamed.text();
  expect((await server.call(`/v1/account/keys/${other.key_id}`, { key, method: "DELETE" })).status).toBe(204);
  expect(await text).toContain('"status":"paused"');
  expect(await jsonOf<Job>(await server.call(path, { key }))).toMatchObject({ status: "paused" });
  const again = await server.call(`${path}/events`, { key: other.api_key });
  expect(await refusalOf(again)).toBe("401 bad_key");
});
