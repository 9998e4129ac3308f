import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Job } from "../../src/client/contract-types.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

const DAY_MS = 86_400_000;

let server: TestServer;
let shiftMs = 0;
beforeAll(async () => {
  const clock = { ...systemClock, now: () => systemClock.now() + shiftMs };
  server = await startTestServer({ clock, environment: { JOB_UPLOADS_BYTES_MAX: "8000000" } });
});
afterAll(() => server[Symbol.asyncDispose]());

async function begin(key: string, type: string | null = "text/csv", query = "", headers = {}): Promise<Job> {
  const reply = await server.call(`/v1/jobs?upload=parts${query}`, {
    key,
    method: "POST",
    headers: { ...(type === null ? {} : { "Content-Type": type }), ...headers },
  });
  expect(reply.status).toBe(201);
  const job = await jsonOf<Job>(reply);
  expect(job.status).toBe("receiving");
  expect(reply.headers.get("location")).toBe(`/v1/jobs/${job.job_id}`);
  return job;
}

function put(
  key: string,
  { job_id }: Pick<Job, "job_id">,
  n: number | string,
  body: string | Uint8Array,
  headers = {},
) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return server.call(`/v1/jobs/${job_id}/parts/${n}`, {
    key,
    method: "PUT",
    body: bytes,
    headers: { "Content-Type": "application/octet-stream", ...headers },
  });
}

async function stored(
  key: string,
  job: Job,
  n: number,
  body: string | Uint8Array,
  headers = {},
): Promise<void> {
  const reply = await put(key, job, n, body, headers);
  expect([n, reply.status, await reply.text()]).toEqual([n, 204, ""]);
}

function start(key: string, { job_id }: Job, headers = {}) {
  return server.call(`/v1/jobs/${job_id}/start`, { key, method: "POST", headers });
}

async function results(key: string, { job_id }: Job): Promise<{ row: number; email: string }[]> {
  await (await server.call(`/v1/jobs/${job_id}/events`, { key })).text();
  const reply = await server.call(`/v1/jobs/${job_id}/results?format=json`, { key });
  return (await jsonOf<{ results: { row: number; email: string }[] }>(reply)).results;
}

const ADDRESSES = Array.from({ length: 5_000 }, (_, at) => `p${at}@good.com`);
const CSV = Buffer.from(`id,email\n${ADDRESSES.map((address, at) => `${at},${address}\n`).join("")}`);

/** A file in pieces that end anywhere, with their numbers from 1. */
function pieces(bytes: Uint8Array, count: number): [number, Uint8Array][] {
  const size = Math.ceil(bytes.byteLength / count);
  return Array.from({ length: count }, (_, at) => [at + 1, bytes.subarray(at * size, (at + 1) * size)]);
}

describe("parts", () => {
  test("in any order and sent again make the file, whose rows are charged once", async () => {
    const key = await server.signUp();
    const job = await begin(key);
    await stored(key, job, 3, "wrong,wrong@good.com\n");
    for (const [n, piece] of pieces(CSV, 7).reverse()) await stored(key, job, n, piece);
    await stored(key, job, 1, pieces(CSV, 7)[0]?.[1] ?? "");
    const reply = await start(key, job);
    expect(reply.status).toBe(202);
    expect((await results(key, job)).map(({ row, email }) => [row, email])).toEqual(
      ADDRESSES.map((email, at) => [at + 1, email]),
    );
    const done = await jsonOf<Job>(await start(key, job));
    expect(done).toMatchObject({ status: "completed", units_charged: 5_000 });
  });

  test("may each be compressed, or be slices of a compressed file", async () => {
    const key = await server.signUp();
    const apart = await begin(key);
    for (const [n, piece] of pieces(CSV, 3)) {
      await stored(key, apart, n, gzipSync(piece), { "Content-Encoding": "gzip" });
    }
    const sliced = await begin(key, "text/csv", "", { "Content-Encoding": "gzip" });
    for (const [n, piece] of pieces(gzipSync(CSV), 3)) await stored(key, sliced, n, piece);
    for (const job of [apart, sliced]) {
      expect((await start(key, job)).status).toBe(202);
      expect(await results(key, job)).toHaveLength(5_000);
    }
  });

  test("declare their type where the job does not, and the options of a job may be JSON", async () => {
    const key = await server.signUp();
    const created = await server.call("/v1/jobs?upload=parts", {
      key,
      body: { name: "mine", kind: "email", column: "mail" },
    });
    const job = await jsonOf<Job & { name: string; options: { column: string } }>(created);
    expect([created.status, job.name, job.options.column]).toEqual([201, "mine", "mail"]);
    expect(await refusalOf(await start(key, job))).toBe("415 unsupported_media_type");
    await stored(key, job, 1, "other,mail\nx,jane@good.com\n", { "Content-Type": "text/csv" });
    expect(await refusalOf(await put(key, job, 2, "{}", { "Content-Type": "application/x-ndjson" }))).toBe(
      "400 invalid_request",
    );
    expect((await start(key, job)).status).toBe(202);
    expect((await results(key, job)).map(({ email }) => email)).toEqual(["jane@good.com"]);
  });

  test("are read in the charset that the upload, or one of them, declares", async () => {
    const key = await server.signUp();
    const list = Buffer.from("email\njan\u00e9@good.com\n", "latin1");
    const type = "text/csv; charset=windows-1252";
    const whole = await begin(key, type);
    for (const [n, piece] of pieces(list, 8)) await stored(key, whole, n, piece);
    const apart = await begin(key, null);
    for (const [n, piece] of pieces(list, 8)) {
      await stored(key, apart, n, piece, { "Content-Type": n === 1 ? "text/csv" : type });
    }
    for (const job of [whole, apart]) {
      const reply = await start(key, job);
      const { options } = await jsonOf<Job>(reply);
      expect([reply.status, options.encoding]).toEqual([202, "windows-1252"]);
      expect((await results(key, job)).map(({ email }) => email)).toEqual(["jan\u00e9@good.com"]);
    }
    const unknown = { "Content-Type": "text/csv; charset=utf-99" };
    expect(await refusalOf(await put(key, await begin(key, null), 1, "x", unknown))).toBe(
      "400 invalid_request",
    );
  });

  test("are of one charset: another is refused, whichever came first, and those that name none are of the same", async () => {
    const key = await server.signUp();
    const typed = (charset: string) => ({ "Content-Type": `text/csv${charset}` });
    const list = Buffer.from("email\njan\u00e9@good.com\n", "latin1");
    for (const [first, other] of [
      ["; charset=windows-1252", "; charset=utf-8"],
      ["; charset=utf-8", "; charset=windows-1252"],
      ["; charset=windows-1252", "; charset=koi8-r"],
    ] as const) {
      const job = await begin(key, null);
      await stored(key, job, 1, "email\n", typed(""));
      await stored(key, job, 2, "a@good.com\n", typed(first));
      const reply = await put(key, job, 3, "b@good.com\n", typed(other));
      const said = `Content-Type: other parts of the job are ${first.slice("; charset=".length)}.`;
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(said)]);
      expect((await start(key, job)).status).toBe(202);
      expect((await results(key, job)).map(({ email }) => email)).toEqual(["a@good.com"]);
    }
    const named = await begin(key, null, "&encoding=windows-1252");
    await stored(key, named, 1, list.subarray(0, 8), typed("; charset=koi8-r"));
    await stored(key, named, 2, list.subarray(8), typed("; charset=utf-8"));
    expect((await start(key, named)).status).toBe(202);
    expect((await results(key, named)).map(({ email }) => email)).toEqual(["jan\u00e9@good.com"]);
  });

  test("name another type or charset when they are sent again, each while no other part has named one", async () => {
    const key = await server.signUp();
    const csv = (charset: string) => ({ "Content-Type": `text/csv${charset}` });
    const list = Buffer.from("email\njan\u00e9@good.com\n", "latin1");
    const job = await begin(key, null);
    const first = '"a@good.com"\n';
    await stored(key, job, 1, first, { "Content-Type": "application/x-ndjson" });
    await stored(key, job, 1, list, csv("; charset=koi8-r"));
    await stored(key, job, 1, list, csv(""));
    await stored(key, job, 1, list, csv("; charset=windows-1252"));
    await stored(key, job, 2, "b@good.com\n", csv(""));
    for (const n of [1, 2]) {
      expect(await refusalOf(await put(key, job, n, first, { "Content-Type": "application/x-ndjson" }))).toBe(
        "400 invalid_request",
      );
    }
    // The charset is still the word of the first part alone.
    await stored(key, job, 1, list, csv("; charset=koi8-r"));
    await stored(key, job, 1, list, csv("; charset=windows-1252"));
    await stored(key, job, 2, "b@good.com\n", csv("; charset=windows-1252"));
    for (const n of [1, 2]) {
      expect(await refusalOf(await put(key, job, n, list, csv("; charset=koi8-r")))).toBe(
        "400 invalid_request",
      );
    }
    expect((await start(key, job)).status).toBe(202);
    expect((await results(key, job)).map(({ email }) => email)).toEqual(["jan\u00e9@good.com", "b@good.com"]);
  });

  test("cannot be announced with an unknown encoding", async () => {
    const key = await server.signUp();
    const call = { key, method: "POST" };
    const named = await server.call("/v1/jobs?upload=parts&encoding=utf-99", call);
    expect(await refusalOf(named)).toBe("400 invalid_request");
    const said = await server.call("/v1/jobs?upload=parts", { key, body: { encoding: "utf-99" } });
    expect([said.status, await said.text()]).toEqual([400, expect.stringContaining("encoding is no known")]);
  });

  test("are checked against their digests, of the bytes as they are sent", async () => {
    const key = await server.signUp();
    const job = await begin(key);
    const bytes = gzipSync("a@good.com\n");
    const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest("base64");
    const encoded = { "Content-Encoding": "gzip" };
    await stored(key, job, 1, bytes, { ...encoded, "Content-MD5": digest("md5") });
    await stored(key, job, 1, bytes, { ...encoded, Digest: `unixsum=30637,SHA-256=${digest("sha256")}` });
    await stored(key, job, 1, bytes, { ...encoded, "Content-Digest": `sha-512=:${digest("sha512")}:` });
    const wrong = [
      { "Content-MD5": digest("md5").replace(/^./, (first) => (first === "A" ? "B" : "A")) },
      { "Content-MD5": "short" },
      { Digest: `sha-256=${createHash("sha256").update("else").digest("base64")}` },
      { Digest: "unixsum=30637" },
      { "Content-Digest": `sha-256=${digest("sha256")}` },
    ];
    for (const headers of wrong) {
      expect(await refusalOf(await put(key, job, 1, bytes, { ...encoded, ...headers }))).toBe(
        "400 invalid_request",
      );
    }
    expect(await refusalOf(await put(key, job, 1, "no gzip", encoded))).toBe("400 invalid_request");
    // The part that came whole stands.
    expect((await start(key, job)).status).toBe(202);
    expect(await results(key, job)).toHaveLength(1);
  });
});

describe("a start", () => {
  test("that is sent twice at once, or again later, makes one job and charges it once", async () => {
    const key = await server.signUp();
    const job = await begin(key, "text/plain");
    await stored(key, job, 1, ADDRESSES.join("\n"));
    const replies = await Promise.all([start(key, job), start(key, job), start(key, job)]);
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(await results(key, job)).toHaveLength(5_000);
    const { usage } = await jsonOf<{ usage: { units: number } }>(await server.call("/v1/account", { key }));
    expect(usage.units).toBe(5_000);
  });

  test("of a job that is started already is replayed under its Idempotency-Key", async () => {
    const key = await server.signUp();
    const job = await begin(key, "text/plain");
    await stored(key, job, 1, "a@good.com\n");
    expect((await start(key, job)).status).toBe(202);
    await results(key, job);
    const named = { "Idempotency-Key": "late" };
    const first = await start(key, job, named);
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([202, null]);
    const text = await first.text();
    const remove = { key, method: "DELETE" };
    expect((await server.call(`/v1/jobs/${job.job_id}`, remove)).status).toBe(204);
    const again = await start(key, job, named);
    expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([
      202,
      "true",
      text,
    ]);
    expect(again.headers.get("location")).toBe(`/v1/jobs/${job.job_id}`);
  });

  test("continues where its caller leaves", async () => {
    const key = await server.signUp();
    const job = await begin(key, "text/plain");
    const last = "z@good.com\n".repeat(100_000);
    await stored(key, job, 1, "y@good.com\n".repeat(100_000));
    await stored(key, job, 2, last);
    const left = new AbortController();
    const call = server.call(`/v1/jobs/${job.job_id}/start`, { key, method: "POST", signal: left.signal });
    await until("start", async () => (await put(key, job, 2, last)).status === 409);
    left.abort();
    await call.catch(() => undefined);
    const path = `/v1/jobs/${job.job_id}`;
    const now = async () => jsonOf<Job>(await server.call(path, { key }));
    await until("end of the job", async () => (await now()).status === "completed", 45_000);
    expect((await now()).counts).toMatchObject({ rows: 200_000, distinct: 2, processed: 200_000 });
  });

  test("is refused until no part is missing", async () => {
    const key = await server.signUp();
    const job = await begin(key, "text/plain");
    expect(await refusalOf(await start(key, job))).toBe("409 job_not_ready");
    await stored(key, job, 1, "a@good.com\n");
    await stored(key, job, 3, "c@good.com\n");
    const reply = await start(key, job);
    expect(await reply.clone().text()).toContain("Part 2 ");
    expect(await refusalOf(reply)).toBe("409 job_not_ready");
    await stored(key, job, 2, "b@good.com\n");
    expect((await start(key, job)).status).toBe(202);
    expect((await results(key, job)).map(({ email }) => email)).toEqual([
      "a@good.com",
      "b@good.com",
      "c@good.com",
    ]);
    expect(await refusalOf(await put(key, job, 4, "d@good.com\n"))).toMatch(
      /^409 job_(?:finished|not_ready)$/,
    );
  });

  test("of an invalid input stores nothing of it", async () => {
    const key = await server.signUp();
    const job = await begin(key, "application/x-ndjson");
    await stored(key, job, 1, '"a@good.com"\n');
    await stored(key, job, 2, "{bad\n");
    const reply = await start(key, job);
    expect(await reply.clone().text()).toContain("2");
    expect(await refusalOf(reply)).toBe("400 invalid_json");
    expect(await refusalOf(await server.call(`/v1/jobs/${job.job_id}`, { key }))).toBe("404 not_found");
    expect(await jsonOf<object>(await server.call("/v1/jobs", { key }))).toMatchObject({ data: [] });
  });

  test("without enough units can be repeated after an upgrade", async () => {
    const key = await server.signUp("free");
    await server.call("/v1/email/verify?email=jane@good.com", { key });
    const job = await begin(key, "text/plain");
    await stored(key, job, 1, ADDRESSES.slice(0, 1_000).join("\n"));
    expect(await refusalOf(await start(key, job))).toBe("402 quota_exceeded");
    await server.call("/v1/account/plan", { key, body: { plan: "starter" } });
    expect((await start(key, job)).status).toBe(202);
    expect(await results(key, job)).toHaveLength(1_000);
  });

  test("of more rows than the plan's max_job_size is refused with the row", async () => {
    const key = await server.signUp("free");
    const job = await begin(key, "text/plain");
    await stored(key, job, 1, ADDRESSES.slice(0, 1_001).join("\n"));
    const reply = await start(key, job);
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("1001")]);
  });
});

describe("limits", () => {
  test("numbers of parts go from 1 to 10,000", async () => {
    const key = await server.signUp();
    const job = await begin(key);
    for (const n of [0, 10_001, -1, "x", "1.5", "01", "1e3", "99999999999"]) {
      expect([n, await refusalOf(await put(key, job, n, "x"))]).toEqual([n, "400 invalid_request"]);
    }
    await stored(key, job, 10_000, "x");
  });

  test("a part has at most 64 MB, once it is decoded", async () => {
    const key = await server.signUp();
    const job = await begin(key);
    const most = new Uint8Array(67_108_864);
    await stored(key, job, 1, most);
    const more = new Uint8Array(most.byteLength + 1);
    expect(await refusalOf(await put(key, job, 1, more))).toBe("413 payload_too_large");
    expect(await refusalOf(await put(key, job, 1, gzipSync(more), { "Content-Encoding": "gzip" }))).toBe(
      "413 payload_too_large",
    );
  });

  test("an account uses at most its share of the disk, which is freed with its uploads", async () => {
    const key = await server.signUp();
    const other = await server.signUp();
    const noise = crypto.getRandomValues(new Uint8Array(65_536));
    const part = Buffer.concat(Array.from({ length: 48 }, () => crypto.getRandomValues(noise.slice())));
    const job = await begin(key);
    await stored(key, job, 1, part);
    await stored(key, job, 2, part);
    expect(await refusalOf(await put(key, job, 3, part))).toBe("503 overloaded");
    // What others are guaranteed is theirs.
    const small = await begin(other, "text/plain");
    await stored(other, small, 1, part.subarray(0, 400_000));
    // A part that takes the place of another needs no more room for long; a job that is deleted gives its own back.
    expect((await server.call(`/v1/jobs/${job.job_id}`, { key, method: "DELETE" })).status).toBe(204);
    expect(await refusalOf(await put(key, job, 1, part))).toBe("404 not_found");
    const next = await begin(key);
    await stored(key, next, 1, part);
    for (const [owner, each] of [
      [key, next],
      [other, small],
    ] as const) {
      await server.call(`/v1/jobs/${each.job_id}`, { key: owner, method: "DELETE" });
    }
  });

  test("uploads count as jobs, and are dropped after 24 hours", async () => {
    const key = await server.signUp("free");
    const job = await begin(key);
    await stored(key, job, 1, "email\na@good.com\n");
    const second = await server.call("/v1/jobs?upload=parts", { key, method: "POST" });
    expect(await refusalOf(second)).toBe("429 too_many_jobs");
    shiftMs += DAY_MS - 60_000;
    await stored(key, job, 2, "b@good.com\n");
    shiftMs += 60_000;
    const status = async () => (await server.call(`/v1/jobs/${job.job_id}`, { key })).status;
    await until("end of the upload", async () => (await status()) === 404, 45_000);
    // The plan's rate may be used up by the asking.
    await until("refusal", async () => (await put(key, job, 3, "c@good.com\n")).status === 404);
    const next = () => server.call("/v1/jobs?upload=parts", { key, method: "POST" });
    await until("room for another", async () => (await next()).status === 201);
  });
});

describe("refusals", () => {
  test("only the account's own uploads take parts and are started", async () => {
    const key = await server.signUp();
    const other = await server.signUp();
    const job = await begin(key);
    expect(await refusalOf(await put(other, job, 1, "x"))).toBe("404 not_found");
    expect(await refusalOf(await start(other, job))).toBe("404 not_found");
    expect(await refusalOf(await put(key, { job_id: "job_none" }, 1, "x"))).toBe("404 not_found");
    expect(await refusalOf(await put("", job, 1, "x"))).toBe("401 missing_key");
    const plain = await jsonOf<Job>(
      await server.call("/v1/jobs", { key, body: "a@good.com\n", headers: { "Content-Type": "text/plain" } }),
    );
    expect(await refusalOf(await put(key, plain, 1, "x"))).toBe("409 job_not_ready");
    for (const verb of ["pause", "resume", "cancel"]) {
      const reply = await server.call(`/v1/jobs/${job.job_id}/${verb}`, { key, method: "POST" });
      expect([verb, await refusalOf(reply)]).toEqual([verb, "409 job_not_ready"]);
    }
    expect(await refusalOf(await server.call(`/v1/jobs/${job.job_id}/results`, { key }))).toBe(
      "409 job_not_ready",
    );
  });

  test("a call that creates an upload has no items", async () => {
    const key = await server.signUp();
    const call = (body: unknown, headers = {}) =>
      server.call("/v1/jobs?upload=parts", { key, body, headers });
    expect(await refusalOf(await call({ items: ["a@good.com"] }))).toBe("400 invalid_request");
    expect(await refusalOf(await call("a@good.com", { "Content-Type": "text/plain" }))).toBe(
      "400 invalid_request",
    );
    expect(await refusalOf(await call({ kind: "iban" }))).toBe("400 invalid_request");
    const unknown = await server.call("/v1/jobs?upload=whole", { key, method: "POST" });
    expect(await refusalOf(unknown)).toBe("400 invalid_request");
  });

  test("the same Idempotency-Key creates one upload and starts it once", async () => {
    const key = await server.signUp();
    const call = () =>
      server.call("/v1/jobs?upload=parts", {
        key,
        method: "POST",
        headers: { "Content-Type": "text/plain", "Idempotency-Key": "upload-1" },
      });
    const job = await jsonOf<Job>(await call());
    const again = await call();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual(job);
    await stored(key, job, 1, "a@good.com\n");
    const headers = { "Idempotency-Key": "start-1" };
    const started = await (await start(key, job, headers)).json();
    const repeated = await start(key, job, headers);
    expect([repeated.status, repeated.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    expect(await repeated.json()).toEqual(started);
  });
});

test("parts that were answered with 204 are there after a restart", async () => {
  using folder = temporaryFolder("uploads");
  const call = (at: TestServer, key: string, path: string, body?: string, method = "POST") =>
    at.call(path, {
      key,
      method,
      ...(body === undefined ? {} : { body }),
      headers: { "Content-Type": "text/plain" },
    });
  let key: string;
  let job: Job;
  {
    await using first = await startTestServer({ dataDir: folder.path });
    key = await first.signUp();
    job = await jsonOf<Job>(await call(first, key, "/v1/jobs?upload=parts"));
    const sent = await call(first, key, `/v1/jobs/${job.job_id}/parts/1`, "a@good.com\nb@go", "PUT");
    expect(sent.status).toBe(204);
  }
  await using second = await startTestServer({ dataDir: folder.path });
  expect((await call(second, key, `/v1/jobs/${job.job_id}/parts/2`, "od.com\n", "PUT")).status).toBe(204);
  expect((await call(second, key, `/v1/jobs/${job.job_id}/start`)).status).toBe(202);
  await (await second.call(`/v1/jobs/${job.job_id}/events`, { key })).text();
  const text = await (await second.call(`/v1/jobs/${job.job_id}/results`, { key })).text();
  const lines = text.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).email)).toEqual(["a@good.com", "b@good.com"]);
});
