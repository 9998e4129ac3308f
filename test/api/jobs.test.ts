import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { Job } from "../../src/client/contract-types.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

function create(key: string, body: string | Uint8Array, type = "text/csv", query = "") {
  return server.call(`/v1/jobs${query}`, { key, body, headers: { "Content-Type": type } });
}

async function created(key: string, body: string, type = "text/csv", query = ""): Promise<Job> {
  const reply = await create(key, body, type, query);
  expect(reply.status).toBe(202);
  const job = await jsonOf<Job>(reply);
  expect(reply.headers.get("location")).toBe(`/v1/jobs/${job.job_id}`);
  return job;
}

/** Reads the stream of events to its end, which is the job's. */
async function ended(key: string, { job_id }: Job): Promise<Job> {
  const text = await (await server.call(`/v1/jobs/${job_id}/events`, { key })).text();
  const last = text.trim().split("\n\n").at(-1) ?? "";
  return JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? "null");
}

function results(key: string, { job_id }: Job, query = "", headers = {}) {
  return server.call(`/v1/jobs/${job_id}/results${query}`, {
    key,
    headers: { "Accept-Encoding": "identity", ...headers },
  });
}

const ADDRESSES = Array.from({ length: 9_000 }, (_, at) => `person${at % 8_000}@good.com`);

describe("202", () => {
  test("every row is answered once and in order, and each distinct one charged once", async () => {
    const key = await server.signUp();
    const csv = `id,email\r\n${ADDRESSES.map((address, at) => `${at},${address}\r\n`).join("")}`;
    const job = await ended(key, await created(key, csv));
    expect(job.status).toBe("completed");
    expect(job.counts).toMatchObject({ rows: 9_000, distinct: 8_000, duplicates: 1_000, processed: 9_000 });
    expect(job.counts).toMatchObject({ deliverable: 9_000 });
    expect(job.units_charged).toBe(8_000);
    const reply = await results(key, job);
    const lines = (await reply.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ row, email }) => [row, email])).toEqual(
      ADDRESSES.map((email, at) => [at + 1, email]),
    );
    const account = await jsonOf<{ usage: { units: number } }>(await server.call("/v1/account", { key }));
    expect(account.usage.units).toBe(8_000);
  });

  test("a job, a batch and a single check give the same verdict, whatever form the list came in", async () => {
    const key = await server.signUp();
    const addresses = [
      "jane@good.com",
      "x@null.com",
      "JANE@Good.com",
      "a b@good.com",
      '"q"@good.com',
      "ü@good.com",
    ];
    const batch = await jsonOf<{ results: object[] }>(
      await server.call("/v1/email/batch", { key, body: { emails: addresses } }),
    );
    const quoted = addresses.map((address) => `"${address.replaceAll('"', '""')}"\n`).join("");
    const forms: readonly (readonly [string, string])[] = [
      ["application/json", JSON.stringify({ items: addresses, kind: "email" })],
      ["text/plain", addresses.join("\n")],
      ["application/x-ndjson", addresses.map((address) => JSON.stringify({ email: address })).join("\n")],
      ["text/csv", `email\n${quoted}`],
    ];
    for (const [type, body] of forms) {
      const job = await ended(key, await created(key, body, type));
      const { results: own } = await jsonOf<{ results: { row: number }[] }>(
        await results(key, job, "?format=json"),
      );
      expect([type, own.map(({ row: _, ...result }) => result)]).toEqual([type, batch.results as never]);
    }
  });

  test("CSV comes back with its own columns first, and a filter leaves rows out", async () => {
    const key = await server.signUp();
    const job = await ended(key, await created(key, 'email;note\njane@good.com;"a; b"\nx@null.com;c\n'));
    const csv = await (await results(key, job, "?format=csv")).text();
    expect(csv.split("\n").map((line) => line.split(";").slice(0, 3).join(";"))).toEqual([
      "email;note;status",
      'jane@good.com;"a; b"',
      "x@null.com;c;undeliverable",
      "",
    ]);
    const filtered = await (await results(key, job, "?status=undeliverable")).text();
    expect(
      filtered
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).row),
    ).toEqual([2]);
    expect(await (await results(key, job, "?sub_status=disposable")).text()).toBe("");
  });

  test("any range of a download is served, with the length of the whole", async () => {
    const key = await server.signUp();
    const job = await ended(key, await created(key, ADDRESSES.slice(0, 5_000).join("\n"), "text/plain"));
    for (const format of ["ndjson", "csv", "json"]) {
      const whole = await (await results(key, job, `?format=${format}`)).text();
      const total = Buffer.byteLength(whole);
      const { headers } = await server.call(`/v1/jobs/${job.job_id}/results?format=${format}`, {
        key,
        method: "HEAD",
      });
      expect([headers.get("content-length"), headers.get("accept-ranges")]).toEqual([`${total}`, "bytes"]);
      for (const first of [10, total - 20_000]) {
        const Range = `bytes=${first}-${first + 99}`;
        const part = await results(key, job, `?format=${format}`, { Range, "Accept-Encoding": "gzip" });
        expect([part.status, part.headers.get("content-encoding")]).toEqual([206, null]);
        expect(part.headers.get("content-length")).toBe("100");
        expect(part.headers.get("content-range")).toBe(`bytes ${first}-${first + 99}/${total}`);
        expect(await part.text()).toBe(whole.slice(first, first + 100));
      }
      const tail = await results(key, job, `?format=${format}`, { Range: "bytes=-10" });
      expect(await tail.text()).toBe(whole.slice(-10));
    }
    const beyond = await results(key, job, "", { Range: "bytes=99999999-" });
    expect(beyond.headers.get("content-range")).toMatch(/^bytes \*\/\d+$/);
    expect(await refusalOf(beyond)).toBe("416 invalid_request");
    const small = await results(key, job, "?sub_status=disposable");
    expect(small.headers.get("content-length")).toBe("0");
    const packed = await results(key, job, "", { "Accept-Encoding": "gzip" });
    const held = { "If-None-Match": `"other", ${packed.headers.get("etag")}` };
    expect([packed.status, (await results(key, job, "", held)).status]).toEqual([200, 304]);
  });

  test("the same Idempotency-Key makes one job", async () => {
    const key = await server.signUp();
    const headers = { "Content-Type": "text/plain", "Idempotency-Key": "list-1" };
    const call = (body: string) => server.call("/v1/jobs", { key, body, headers });
    const first = await call("jane@good.com\n");
    const again = await call("jane@good.com\n");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual(await first.json());
    expect(await refusalOf(await call("other@good.com\n"))).toBe("422 idempotency_mismatch");
    const page = await jsonOf<{ data: Job[] }>(await server.call("/v1/jobs", { key }));
    expect(page.data).toHaveLength(1);
  });

  test("a finished job cannot be cancelled, and a deleted one is 404", async () => {
    const key = await server.signUp();
    const job = await ended(key, await created(key, "jane@good.com\n", "text/plain"));
    const act = (verb: string) => server.call(`/v1/jobs/${job.job_id}/${verb}`, { key, method: "POST" });
    expect(await refusalOf(await act("cancel"))).toBe("409 job_finished");
    expect((await server.call(`/v1/jobs/${job.job_id}`, { key, method: "DELETE" })).status).toBe(204);
    expect(await refusalOf(await server.call(`/v1/jobs/${job.job_id}`, { key }))).toBe("404 not_found");
    const other = await server.signUp();
    expect(await refusalOf(await server.call(`/v1/jobs/${job.job_id}`, { key: other }))).toBe(
      "404 not_found",
    );
  });
});

describe("out of units", () => {
  test("a job that may pause stops at the last unit, and continues after an upgrade", async () => {
    const key = await server.signUp("free");
    const rows = Array.from({ length: 1_000 }, (_, at) => `p${at}@good.com`).join("\n");
    await server.call("/v1/email/verify?email=jane@good.com", { key });
    expect(await refusalOf(await create(key, rows, "text/plain"))).toBe("402 quota_exceeded");
    const job = await created(key, rows, "text/plain", "?when_out_of_units=pause");
    const paused = await untilStatus(key, job, "paused");
    expect(paused).toMatchObject({ status_reason: "out_of_units", units_charged: 999 });
    const partial = await results(key, job);
    expect(partial.headers.get("x-job-complete")).toBe("false");
    expect((await partial.text()).trimEnd().split("\n")).toHaveLength(999);
    await server.call("/v1/account/plan", { key, body: { plan: "starter" } });
    const done = await ended(key, job);
    expect(done).toMatchObject({ status: "completed", units_charged: 1_000 });
    expect((await (await results(key, job)).text()).trimEnd().split("\n")).toHaveLength(1_000);
  });
});

describe("out of units in the midst of its rows", () => {
  test("a job charges the units left to the last one, returns the results that are paid for, and charges the rest after an upgrade", async () => {
    const key = await server.signUp("free");
    // Every tenth row repeats the one before, and costs nothing.
    const rows = Array.from({ length: 1_000 }, (_, at) => `h${at % 10 === 9 ? at - 1 : at}@good.com`);
    const emails = Array.from({ length: 90 }, (_, at) => `used${at}@good.com`);
    for (let batch = 0; batch < 5; batch += 1) {
      const reply = await server.call("/v1/email/batch", { key, body: { emails } });
      expect(reply.status).toBe(200);
    }
    const job = await created(key, rows.join("\n"), "text/plain", "?when_out_of_units=pause");
    const paused = await untilStatus(key, job, "paused");
    expect(paused).toMatchObject({ status_reason: "out_of_units", units_charged: 550 });
    const read = async () =>
      (await (await results(key, job)).text())
        .trimEnd()
        .split("\n")
        .map((line): string => JSON.parse(line).email);
    const partial = await read();
    expect(partial).toEqual(rows.slice(0, partial.length));
    expect([new Set(partial).size, partial.length]).toEqual([550, paused.counts.processed ?? 0]);
    await server.call("/v1/account/plan", { key, body: { plan: "starter" } });
    expect(await ended(key, job)).toMatchObject({ status: "completed", units_charged: 900 });
    expect(await read()).toEqual(rows);
    const account = await jsonOf<{ usage: { units: number } }>(await server.call("/v1/account", { key }));
    expect(account.usage.units).toBe(1_350);
  });
});

describe("400", () => {
  const cases: readonly (readonly [string, string, string, string, string])[] = [
    ["an NDJSON line that is no JSON", '"a@good.com"\n{bad\n', "application/x-ndjson", "", "invalid_json"],
    ["a line without an item", '"a@good.com"\n{"x":1}\n', "application/x-ndjson", "", "invalid_request"],
    ["a quote that is never closed", 'email\n"a@good.com\nb@good.com\n', "text/csv", "", "invalid_request"],
    ["a column that is not there", "email\na@good.com\n", "text/csv", "?column=phone", "invalid_request"],
    ["JSON that is cut off", '{"items":["a@good.com"', "application/json", "", "invalid_json"],
    ["JSON without items", '{"kind":"email"}', "application/json", "", "invalid_request"],
    ["an item that is no text", '{"items":[5]}', "application/json", "", "invalid_request"],
    ["an invalid kind", "a@good.com\n", "text/plain", "?kind=iban", "invalid_request"],
    ["text that is not UTF-8", "caf\xe9@good.com", "text/plain", "", "invalid_request"],
    [
      "an NDJSON object that is not UTF-8",
      '{"email":"caf\xe9@good.com"}\n',
      "application/x-ndjson",
      "",
      "invalid_request",
    ],
    [
      "another field of an NDJSON object that is not UTF-8",
      '{"email":"a@good.com","name":"Ren\xe9"}\n',
      "application/x-ndjson",
      "",
      "invalid_request",
    ],
    [
      "a JSON item that is not UTF-8",
      '{"kind":"identity","items":[{"value":"\xe9"}]}',
      "application/json",
      "",
      "invalid_request",
    ],
    [
      "a field of JSON that is not UTF-8",
      '{"name":"caf\xe9","items":["a@good.com"]}',
      "application/json",
      "",
      "invalid_request",
    ],
  ];
  for (const [name, body, type, query, code] of cases) {
    test(`${name} refuses the whole list, and nothing is kept`, async () => {
      const key = await server.signUp();
      const bytes = Buffer.from(body, name.includes("UTF-8") ? "latin1" : "utf8");
      expect(await refusalOf(await create(key, new Uint8Array(bytes), type, query))).toBe(`400 ${code}`);
      expect(await jsonOf<object>(await server.call("/v1/jobs", { key }))).toMatchObject({ data: [] });
    });
  }

  test("more rows than the plan's max_job_size are refused with the row", async () => {
    const key = await server.signUp("free");
    const reply = await create(key, "a@good.com\n".repeat(1_001), "text/plain");
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain("1001");
  });
});

describe("webhook_url", () => {
  const secretOf = async (at: TestServer, key: string, url: string) => {
    const reply = await at.call("/v1/webhooks", { key, body: { url, events: ["job.failed"] } });
    return (await jsonOf<{ secret: string }>(reply)).secret;
  };

  test("receives the end of its job alone, signed with the first webhook's secret", async () => {
    const received = Promise.withResolvers<{ body: string; headers: Headers }>();
    using receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        received.resolve({ body: await request.text(), headers: request.headers });
        return new Response();
      },
    });
    await using open = await startTestServer({ environment: { WEBHOOK_ALLOW_PRIVATE: "true" } });
    const key = await open.signUp();
    const secret = await secretOf(open, key, "https://hooks.example.com/first");
    await secretOf(open, key, "https://hooks.example.com/second");
    const url = `http://127.0.0.1:${receiver.port}/job`;
    const created = await open.call(`/v1/jobs?webhook_url=${encodeURIComponent(url)}`, {
      key,
      body: "jane@good.com\n",
      headers: { "Content-Type": "text/plain" },
    });
    const job = await jsonOf<Job & { options: { webhook_url: string } }>(created);
    expect(job.options.webhook_url).toBe(url);
    const { body, headers } = await received.promise;
    expect(JSON.parse(body)).toMatchObject({ type: "job.completed", data: { job_id: job.job_id } });
    const checked = new Webhook(secret).verify(body, Object.fromEntries(headers));
    expect(checked).toEqual(JSON.parse(body));
  });

  test("is refused where it may not be called, and where no secret could sign", async () => {
    const key = await server.signUp();
    const url = "https://hooks.example.com/in";
    const call = (address: string) =>
      create(key, "jane@good.com\n", "text/plain", `?webhook_url=${encodeURIComponent(address)}`);
    expect(await refusalOf(await call(url))).toBe("400 invalid_request");
    await secretOf(server, key, url);
    expect((await call(url)).status).toBe(202);
    const wrong = ["http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/", "hooks", ""];
    for (const address of wrong) {
      expect([address, await refusalOf(await call(address))]).toEqual([address, "400 invalid_request"]);
      const body = { items: ["jane@good.com"], webhook_url: address };
      const inBody = await server.call("/v1/jobs", { key, body });
      expect([address, await refusalOf(inBody)]).toEqual([address, "400 invalid_request"]);
    }
  });
});

test("a repeated call is replayed, whatever number of jobs the plan allows", async () => {
  const key = await server.signUp("free");
  await server.call("/v1/email/verify?email=jane@good.com", { key });
  const body = Array.from({ length: 1_000 }, (_, at) => `p${at}@good.com`).join("\n");
  const call = (idempotencyKey: string) =>
    server.call("/v1/jobs?when_out_of_units=pause", {
      key,
      body,
      headers: { "Content-Type": "text/plain", "Idempotency-Key": idempotencyKey },
    });
  const job = await jsonOf<Job>(await call("first"));
  await untilStatus(key, job, "paused");
  expect(await refusalOf(await call("second"))).toBe("429 too_many_jobs");
  const again = await call("first");
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  expect((await jsonOf<Job>(again)).job_id).toBe(job.job_id);

  // A stream of the job's events ends where the job is deleted.
  const events = await server.call(`/v1/jobs/${job.job_id}/events`, { key });
  expect((await server.call(`/v1/jobs/${job.job_id}`, { key, method: "DELETE" })).status).toBe(204);
  expect(await events.text()).toContain("event: job");
  expect(server.logged().filter(({ event }) => event === "bug")).toEqual([]);
});

test("events of a job that has ended are its last one, and 204 to a reader that has it", async () => {
  const key = await server.signUp();
  const { job_id } = await ended(key, await created(key, "ann@good.com", "text/plain"));
  const open = (headers = {}, method = "GET") =>
    server.call(`/v1/jobs/${job_id}/events`, { key, headers, method });
  const text = await (await open()).text();
  expect(text.match(/^event: job$/gm)).toHaveLength(1);
  const [, id = ""] = /^id: (.*)$/m.exec(text) ?? [];
  expect(await (await open({ "Last-Event-ID": "running--0-1" })).text()).toBe(text);
  for (const method of ["GET", "HEAD"]) {
    const again = await open({ "Last-Event-ID": id }, method);
    expect([again.status, again.headers.get("cache-control"), await again.text()]).toEqual([
      204,
      "no-store",
      "",
    ]);
  }
});

async function untilStatus(key: string, { job_id }: Job, status: string): Promise<Job> {
  const reply = await server.call(`/v1/jobs/${job_id}/events`, { key });
  const decoder = new TextDecoder();
  let text = "";
  // A piece may hold several events, or part of one.
  for await (const piece of reply.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const job: Job | null = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "null");
      if (job?.status === status) return job;
    }
  }
  throw new Error(`the job never was ${status}`);
}
