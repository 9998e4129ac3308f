import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { createClient } from "../../src/client/client.ts";
import { IncompleteReplyError, RefusedError } from "../../src/client/failure.ts";
import { startTestServer } from "../support/server.ts";

type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
};

/** A client whose calls are answered as given for each path, call by call; the last answer is repeated. */
function serve(answers: { readonly [path: string]: readonly ((call: Call) => Response)[] }) {
  const calls: Call[] = [];
  const client = createClient({
    baseUrl: "http://assay.example",
    apiKey: "asy_x",
    pause: async (_, signal) => signal?.throwIfAborted(),
    async fetch(url, { method = "GET", headers, body, signal }) {
      signal?.throwIfAborted();
      const { pathname, search } = new URL(url);
      const sent = Buffer.from(body instanceof Uint8Array ? body : `${body ?? ""}`);
      const call = { method, path: pathname + search, headers: new Headers(headers), body: sent };
      calls.push(call);
      const mine = answers[pathname] ?? [];
      const count = calls.filter(({ path }) => path.split("?")[0] === pathname).length;
      const answer = mine[Math.min(count, mine.length) - 1];
      return answer?.(call) ?? new Response(null, { status: 500 });
    },
  });
  return { client, calls };
}

const job = (status: string, processed = 0, rows = 4) => ({
  job_id: "job_1",
  status,
  counts: { rows, distinct: rows, duplicates: 0, processed },
});
const event = (id: string, value: object) => `id: ${id}\nevent: job\ndata: ${JSON.stringify(value)}\n\n`;
const eventStream = (text: string) =>
  new Response(text, { headers: { "Content-Type": "text/event-stream" } });
const line = (row: number) => `${JSON.stringify({ row, email: `ü${row}@good.com` })}\n`;
const ended = () => eventStream(event("done", job("completed", 4)));

/** A body that breaks off after `bytes` bytes. */
function cut(text: string, bytes: number, headers: Record<string, string> = {}): Response {
  const whole = new TextEncoder().encode(text).subarray(0, bytes);
  let isSent = false;
  const body = new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new Error("cut"));
      else controller.enqueue(whole);
      isSent = true;
    },
  });
  return new Response(body, { headers });
}

describe("against the real server", () => {
  test("rows, lines and a table become jobs, whose results are those of a batch, with their rows", async () => {
    await using server = await startTestServer();
    const client = createClient({ baseUrl: server.url, apiKey: await server.signUp() });
    const emails = ["ann@good.com", "nobody", 'qu"ote@good.com', "bob@null.com", "ann@good.com"];
    const batch = await client.verifyEmails(emails);
    const expected = batch.results.map((result, at) => ({ row: at + 1, ...result }));
    const inputs = [
      { rows: emails },
      {
        rows: (async function* () {
          yield* emails;
        })(),
      },
      { text: emails.join("\n") },
      { ndjson: new Blob([emails.map((email) => JSON.stringify(email)).join("\n")]).stream() },
      { csv: `email\n${emails.map((email) => `"${email.replaceAll('"', '""')}"`).join("\n")}` },
    ];
    for (const input of inputs) {
      const made = await client.createJob(input, { name: "list" });
      expect(made).toMatchObject({ kind: "email", name: "list", counts: { rows: 5, distinct: 4 } });
      expect(await Array.fromAsync(client.jobResults(made.job_id))).toEqual(expected);
    }
    const [newest] = (await client.jobs({ limit: 1 })).data;
    const { job_id } = newest ?? { job_id: "" };
    const only = await Array.fromAsync(client.jobResults(job_id, { status: "undeliverable" }));
    expect(only.map(({ row }) => row)).toEqual([2, 3, 4]);
    const rest = await Array.fromAsync(client.jobResults(job_id, { afterRow: 3, partial: true }));
    expect(rest.map(({ row }) => row)).toEqual([4, 5]);
    expect(await client.job(job_id)).toMatchObject({ status: "completed", units_charged: 4 });
    await client.deleteJob(job_id);
    const gone = client.job(job_id);
    await expect(gone).rejects.toMatchObject({ status: 404, code: "not_found" });
  });

  test("an input of several parts is one job", async () => {
    await using server = await startTestServer();
    const client = createClient({ baseUrl: server.url, apiKey: await server.signUp() });
    const emails = Array.from({ length: 3_000 }, (_, i) => `user${i % 2_900}@many.com`);
    const made = await client.createJob({ rows: emails }, { dns: false }, { partBytes: 20_000 });
    expect(made.counts).toMatchObject({ rows: 3_000, distinct: 2_900 });
    const results = await Array.fromAsync(client.jobResults(made.job_id));
    expect(results.map(({ row, email }) => [row, email])).toEqual(emails.map((email, at) => [at + 1, email]));
  });

  test("a job is watched to its end, steered, and refused as the API refuses", async () => {
    await using server = await startTestServer();
    const client = createClient({ baseUrl: server.url, apiKey: await server.signUp() });
    const phones = await client.createJob({ rows: ["+5511987654321", "nope"] }, { kind: "phone" });
    const seen = await Array.fromAsync(client.watchJob(phones.job_id));
    expect(seen.at(-1)).toMatchObject({ status: "completed", progress: 1 });
    await expect(client.pauseJob(phones.job_id)).rejects.toMatchObject({ code: "job_finished" });
    const refused = client.createJob({ ndjson: '"a@good.com"\n{}' });
    await expect(refused).rejects.toBeInstanceOf(RefusedError);
    const documents = { rows: [{ type: "cpf", value: "111.111.111-11" } as const] };
    const { job_id } = await client.createJob(documents, { kind: "identity" });
    const [result] = await Array.fromAsync(client.jobResults<{ readonly valid: boolean }>(job_id));
    expect(result).toMatchObject({ row: 1, valid: false });
  });
});

describe("createJob in parts, made again under the caller's own key", () => {
  const rows = Array.from({ length: 300 }, (_, i) => `user${i}@many.com`);
  const options = { partBytes: 2_000, idempotencyKey: "k".repeat(255) };

  test("returns the job that was started, and that has ended, under the longest key", async () => {
    await using server = await startTestServer();
    const client = createClient({ baseUrl: server.url, apiKey: await server.signUp() });
    const made = await client.createJob({ rows }, {}, options);
    expect((await client.createJob({ rows }, {}, options)).job_id).toBe(made.job_id);
    await Array.fromAsync(client.watchJob(made.job_id));
    expect((await client.createJob({ rows }, {}, options)).job_id).toBe(made.job_id);
    expect((await client.jobs()).data).toHaveLength(1);
  });

  test("returns a job that was started under another key", async () => {
    await using server = await startTestServer();
    const client = createClient({ baseUrl: server.url, apiKey: await server.signUp() });
    const { job_id } = await client.createUpload("application/x-ndjson", {}, options);
    await client.putJobPart(job_id, 1, new TextEncoder().encode('"ann@good.com"\n'));
    await client.startJob(job_id);
    const made = await client.createJob({ rows }, {}, options);
    expect(made).toMatchObject({ job_id, counts: { rows: 1 } });
  });

  test("does not take a start that is refused for one that was made", async () => {
    const notReady = () => Response.json({ error: { code: "job_not_ready", message: "" } }, { status: 409 });
    const { client } = serve({
      "/v1/jobs": [() => Response.json(job("receiving"), { status: 201 })],
      "/v1/jobs/job_1/parts/1": [notReady],
      "/v1/jobs/job_1/start": [notReady],
      "/v1/jobs/job_1": [() => Response.json(job("receiving"))],
    });
    const refused = client.createJob({ rows: rows.slice(0, 3) }, {}, { ...options, partBytes: 20 });
    await expect(refused).rejects.toMatchObject({ code: "job_not_ready", jobId: "job_1" });
  });
});

test("steering that no answer came to is sent again as the same call", async () => {
  const broken = () => {
    throw new TypeError("the connection broke");
  };
  const { client, calls } = serve({ "/v1/jobs/job_1/pause": [broken, () => Response.json(job("paused"))] });
  expect(await client.pauseJob("job_1")).toMatchObject({ status: "paused" });
  const [first, second] = calls.map(({ headers }) => headers.get("idempotency-key"));
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect([calls.length, second]).toEqual([2, first]);
});

test.each([
  ["by Bun", { code: "ECONNREFUSED" }],
  ["by an older Bun", { code: "ConnectionRefused" }],
  ["by Node.js", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) }],
  ["for a name", { cause: Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }) }],
  ["for a name, for now", { cause: Object.assign(new Error("getaddrinfo"), { code: "EAI_AGAIN" }) }],
])(
  "a deletion that never reached the server takes no 404 for its own: no connection %s",
  async (_, facts) => {
    const gone = () => Response.json({ error: { code: "not_found", message: "No." } }, { status: 404 });
    const unconnected = () => {
      throw Object.assign(new TypeError("fetch failed"), facts);
    };
    const broken = () => {
      throw Object.assign(new TypeError("fetch failed"), { code: "ECONNRESET" });
    };
    const { client } = serve({ "/v1/jobs/job_1": [unconnected, gone] });
    await expect(client.deleteJob("job_1")).rejects.toMatchObject({ code: "not_found" });
    // A reply that was lost once stays lost behind a server that is gone.
    const both = serve({ "/v1/jobs/job_1": [broken, unconnected, gone] });
    await both.client.deleteJob("job_1");
    expect(both.calls).toHaveLength(3);
  },
);

test("a job that is gone behind a lost reply was deleted, and without one it was not there", async () => {
  const gone = () => Response.json({ error: { code: "not_found", message: "No." } }, { status: 404 });
  const broken = () => {
    throw new TypeError("the connection broke");
  };
  const { client, calls } = serve({ "/v1/jobs/job_1": [broken, gone] });
  await client.deleteJob("job_1");
  expect(calls).toHaveLength(2);
  await expect(client.deleteJob("job_1")).rejects.toMatchObject({ code: "not_found" });
});

describe("an upload in parts", () => {
  const created = () => Response.json(job("receiving"), { status: 201 });
  const done = () => new Response(null, { status: 204 });

  test("cuts a long input anywhere, in parts that come again where their connection breaks", async () => {
    const busy = () => Response.json({ error: { code: "overloaded", message: "" } }, { status: 503 });
    const { client, calls } = serve({
      "/v1/jobs": [created],
      "/v1/jobs/job_1/parts/1": [busy, done],
      "/v1/jobs/job_1/parts/2": [done],
      "/v1/jobs/job_1/parts/3": [done],
      "/v1/jobs/job_1/start": [() => Response.json(job("queued"), { status: 202 })],
    });
    const rows = ["añn@good.com", "bob@good.com", "cy@good.com"];
    const options = { partBytes: 20, idempotencyKey: "mine" };
    const started = await client.createJob(
      { rows },
      { deep: true, webhook_url: "https://a.example/?b" },
      options,
    );
    expect(started.status).toBe("queued");
    const [create] = calls;
    expect(create?.path).toBe("/v1/jobs?upload=parts&deep=true&webhook_url=https%3A%2F%2Fa.example%2F%3Fb");
    expect(create?.headers.get("content-type")).toBe("application/x-ndjson");
    expect(calls.at(-1)?.headers.get("idempotency-key")).toBe("job_1-start");
    const parts = calls.filter(({ method }) => method === "PUT");
    const digests = parts.map(({ headers }) => headers.get("content-digest"));
    expect(parts.map(({ body }) => new Bun.CryptoHasher("sha256").update(body).digest("base64"))).toEqual(
      digests.map((digest) => digest?.slice("sha-256=:".length, -1) ?? ""),
    );
    const last = new Map(parts.map(({ path, body }) => [path, gunzipSync(body)]));
    const whole = [1, 2, 3].map((n) => last.get(`/v1/jobs/job_1/parts/${n}`) ?? Buffer.alloc(0));
    expect([parts.length, Buffer.concat(whole).toString()]).toEqual([
      4,
      rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
    ]);
  });

  test("a part that is refused ends it, and nothing is started", async () => {
    const gone = () => Response.json({ error: { code: "not_found", message: "" } }, { status: 404 });
    // Others are sent before the refusal arrives.
    const others = Array.from({ length: 30 }, (_, at) => [`/v1/jobs/job_1/parts/${at + 2}`, [done]]);
    const { client, calls } = serve({
      "/v1/jobs": [created],
      "/v1/jobs/job_1/parts/1": [gone],
      ...Object.fromEntries(others),
    });
    const endless = async function* () {
      for (;;) yield "ann@good.com";
    };
    const refused = client.createJob({ rows: endless() }, {}, { partBytes: 100_000 });
    await expect(refused).rejects.toMatchObject({ code: "not_found" });
    expect(calls.filter(({ path }) => path.endsWith("start"))).toEqual([]);
  });
});

describe("watchJob", () => {
  test("goes on behind the last event where a stream ends early", async () => {
    const { client, calls } = serve({
      "/v1/jobs/job_1/events": [
        () => eventStream(`: still here\n\n${event("a-1", job("running", 1))}`),
        () => cut(event("a-2", job("running", 2)), 10_000),
        ended,
      ],
    });
    const seen = await Array.fromAsync(client.watchJob("job_1"));
    expect(seen.map(({ counts }) => counts.processed)).toEqual([1, 2, 4]);
    expect(calls.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "a-1", "a-2"]);
  });

  test("asks for the job where no event gets through", async () => {
    const { client, calls } = serve({
      "/v1/jobs/job_1/events": [() => eventStream("")],
      "/v1/jobs/job_1": [
        () => Response.json(job("running", 1)),
        () => Response.json(job("running", 1)),
        () => Response.json(job("completed", 4)),
      ],
    });
    const seen = await Array.fromAsync(client.watchJob("job_1"));
    expect(seen.map(({ status }) => status)).toEqual(["running", "completed"]);
    expect(calls.filter(({ path }) => path.endsWith("/events"))).toHaveLength(2);
  });

  test("throws what the server refuses, and the reason of a signal", async () => {
    const gone = () => Response.json({ error: { code: "not_found", message: "No." } }, { status: 404 });
    const { client } = serve({ "/v1/jobs/job_1/events": [gone] });
    await expect(Array.fromAsync(client.watchJob("job_1"))).rejects.toMatchObject({ code: "not_found" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(Array.fromAsync(client.watchJob("job_1", { signal }))).rejects.toThrow("enough");
  });
});

describe("createJob", () => {
  const empty = (status: number) => () => new Response(null, { status });
  const uploadServer = () =>
    serve({
      "/v1/jobs": [() => Response.json(job("receiving"), { status: 201 })],
      ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`/v1/jobs/job_1/parts/${n}`, [empty(204)]])),
      "/v1/jobs/job_1": [empty(204)],
    });
  async function* failing() {
    for (const name of ["a", "b", "c", "d"]) yield `${name}@good.com\n`;
    throw new Error("the disk is gone");
  }
  const deleted = (calls: readonly Call[]) => calls.filter(({ method }) => method === "DELETE").length;

  test("drops an upload whose input fails half-way, but not one that its caller can go on with", async () => {
    const { client, calls } = uploadServer();
    const create = (options: object) =>
      client.createJob({ text: failing() }, {}, { partBytes: 11, ...options });
    await expect(create({})).rejects.toThrow("the disk is gone");
    expect(deleted(calls)).toBe(1);
    await expect(create({ idempotencyKey: "mine" })).rejects.toThrow("the disk is gone");
    expect(deleted(calls)).toBe(1);
  });

  const refusal = (status: number, code: string) => () =>
    Response.json({ error: { code, message: `It is ${code}.` } }, { status });
  const startedWith = (...answers: readonly (() => Response)[]) =>
    serve({
      "/v1/jobs": [() => Response.json(job("receiving"), { status: 201 })],
      ...Object.fromEntries([1, 2, 3, 4].map((n) => [`/v1/jobs/job_1/parts/${n}`, [empty(204)]])),
      "/v1/jobs/job_1/start": answers,
      "/v1/jobs/job_1": [empty(204)],
    });
  const text = ["a", "b", "c", "d"].map((name) => `${name}@good.com\n`).join("");

  test("drops an upload whose start is refused, and says the job that its caller can go on with", async () => {
    const { client, calls } = startedWith(refusal(402, "quota_exceeded"));
    const create = (options: object) => client.createJob({ text }, {}, { partBytes: 11, ...options });
    await expect(create({})).rejects.toMatchObject({ code: "quota_exceeded", jobId: null });
    expect(deleted(calls)).toBe(1);
    const own = create({ idempotencyKey: "mine" });
    await expect(own).rejects.toMatchObject({ code: "quota_exceeded", jobId: "job_1" });
    expect(deleted(calls)).toBe(1);
  });

  test.each([
    ["without a reply", () => Promise.reject(new TypeError("gone")) as never, "UnreachableError"],
    ["that still runs", refusal(409, "idempotency_in_progress"), "RefusedError"],
    ["that a fault has met", refusal(500, "internal_error"), "RefusedError"],
    ["that a proxy answered", () => new Response("<h1>Time-out</h1>", { status: 504 }), "RefusedError"],
  ])("keeps a job whose start may succeed, and says its id: a start %s", async (_, answer, name) => {
    const { client, calls } = startedWith(answer);
    const failure = await client.createJob({ text }, {}, { partBytes: 11 }).catch((error: unknown) => error);
    const key = calls.at(-1)?.headers.get("idempotency-key");
    expect(failure).toMatchObject({ name, jobId: "job_1", idempotencyKey: key });
    expect(deleted(calls)).toBe(0);
  });

  const lost = () => Promise.reject(new TypeError("gone")) as never;
  const page = () => new Response("<h1>Bad gateway</h1>", { status: 502 });
  const plainly: [string, () => Response][] = [
    ["rate_limited", refusal(429, "rate_limited")],
    ["overloaded", refusal(503, "overloaded")],
    ["quota_exceeded", refusal(402, "quota_exceeded")],
    ["unreadable_reply", () => new Response("<h1>Forbidden</h1>", { status: 403 })],
  ];

  test.each(plainly)("drops a job whose start is answered each time, with %s", async (code, answer) => {
    const { client, calls } = startedWith(answer);
    const created = client.createJob({ text }, {}, { partBytes: 11 });
    await expect(created).rejects.toMatchObject({ code, jobId: null, isReplyLost: false });
    expect(deleted(calls)).toBe(1);
  });

  test.each(plainly)(
    "keeps a job whose start lost a reply before it was refused with %s",
    async (code, answer) => {
      for (const before of [lost, page]) {
        const { client, calls } = startedWith(before, answer);
        const created = client.createJob({ text }, {}, { partBytes: 11 });
        await expect(created).rejects.toMatchObject({ code, jobId: "job_1", isReplyLost: true });
        expect(deleted(calls)).toBe(0);
      }
    },
  );

  test("drops a job whose start never reached the server before it was refused", async () => {
    const unreached = () =>
      Promise.reject(Object.assign(new TypeError("no"), { code: "ECONNREFUSED" })) as never;
    const { client, calls } = startedWith(unreached, refusal(429, "rate_limited"));
    const created = client.createJob({ text }, {}, { partBytes: 11 });
    await expect(created).rejects.toMatchObject({ code: "rate_limited", jobId: null });
    expect(deleted(calls)).toBe(1);
  });

  test("drops an upload that is aborted", async () => {
    const { client, calls } = uploadServer();
    const abort = new AbortController();
    async function* aborting() {
      for (const name of ["a", "b", "c", "d"]) yield `${name}@good.com\n`;
      abort.abort(new Error("enough"));
      yield "e@good.com\n";
    }
    const created = client.createJob({ text: aborting() }, {}, { partBytes: 11, signal: abort.signal });
    await expect(created).rejects.toThrow("enough");
    expect(deleted(calls)).toBe(1);
  });
});

describe("the input of createJob", () => {
  const refused = () => Response.json({ error: { code: "too_many_jobs", message: "" } }, { status: 403 });
  const endless = (onClose: () => void) =>
    (async function* () {
      try {
        for (;;) yield "ann@good.com\n";
      } finally {
        onClose();
      }
    })();
  const stream = (onClose: () => void) =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("ann@good.com\n")),
      cancel: onClose,
    });

  test.each([
    ["a generator", endless],
    ["a stream", stream],
  ])("is closed where the job is refused: %s", async (_, open) => {
    const { client } = serve({ "/v1/jobs": [refused] });
    let closed = 0;
    const text = open(() => {
      closed += 1;
    });
    const created = client.createJob({ text }, {}, { partBytes: 1_000 });
    await expect(created).rejects.toMatchObject({ code: "too_many_jobs" });
    expect(closed).toBe(1);
  });

  test("is closed where a part is refused", async () => {
    const created = () => Response.json(job("receiving"), { status: 201 });
    const { client } = serve({ "/v1/jobs": [created], "/v1/jobs/job_1/parts/1": [refused] });
    let closed = 0;
    const text = endless(() => {
      closed += 1;
    });
    const create = client.createJob({ text }, {}, { partBytes: 1_000 });
    await expect(create).rejects.toMatchObject({ status: 403 });
    expect(closed).toBe(1);
  });

  const stuck = async function* () {
    yield "ann@good.com\n";
    await new Promise(() => {});
  };
  const silent = (onClose: () => void) => new ReadableStream<Uint8Array>({ cancel: onClose });

  test("that yields nothing is left at once where the caller aborts, and a stream is cancelled", async () => {
    const { client, calls } = serve({});
    let closed = 0;
    const cancelled = silent(() => {
      closed += 1;
    });
    // What `for await` takes need not be a generator: its `return` may give no promise.
    const plain = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => ({ done: true, value: undefined }),
      }),
    } as unknown as AsyncIterable<Uint8Array>;
    const inputs = [{ text: stuck() }, { rows: stuck() }, { text: cancelled }, { text: plain }];
    for (const input of inputs) {
      const abort = new AbortController();
      const created = client.createJob(input, {}, { signal: abort.signal });
      abort.abort(new Error("enough"));
      await expect(created).rejects.toThrow("enough");
    }
    expect([closed, calls.length]).toEqual([1, 0]);
  });
});

describe("jobResults", () => {
  const text = [1, 2, 3, 4].map(line).join("");
  const tagged = { "Accept-Ranges": "bytes", ETag: 'W/"tag"' };
  const rowsOf = async (client: ReturnType<typeof serve>["client"], options = {}) =>
    (await Array.fromAsync(client.jobResults("job_1", options))).map(({ row, email }) => `${row} ${email}`);
  const all = [1, 2, 3, 4].map((row) => `${row} ü${row}@good.com`);

  test.each([1, 20, 33, 40, 50, 90])("goes on after a break at byte %i by its bytes", async (at) => {
    const rest = ({ headers }: Call) => {
      const range = headers.get("range");
      if (range === null) return new Response(text, { headers: tagged });
      const first = Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
      return new Response(Buffer.from(text).subarray(first), { status: 206, headers: tagged });
    };
    const { client, calls } = serve({
      "/v1/jobs/job_1/events": [ended],
      "/v1/jobs/job_1/results": [() => cut(text, at, tagged), rest],
    });
    expect(await rowsOf(client)).toEqual(all);
    const last = calls.at(-1);
    const bytesOfRow = Buffer.byteLength(line(1));
    const whole = Math.floor(at / bytesOfRow) * bytesOfRow;
    const asked = [last?.headers.get("range"), last?.headers.get("if-range")];
    expect(asked).toEqual(whole === 0 ? [null, null] : [`bytes=${whole}-`, '"tag"']);
  });

  test("passes over what came before where bytes cannot be asked for", async () => {
    const { client, calls } = serve({
      "/v1/jobs/job_1/events": [ended],
      "/v1/jobs/job_1/results": [() => cut(text, 70), () => new Response(text)],
    });
    expect(await rowsOf(client, { status: "deliverable" })).toEqual(all);
    expect(calls.at(-1)?.headers.get("range")).toBeNull();
  });

  test("a reply that ends early without a break is gone on with, too", async () => {
    const short = () => new Response(text.slice(0, 32), { headers: tagged });
    const whole = () => new Response(text, { headers: tagged });
    const { client } = serve({
      "/v1/jobs/job_1/events": [ended],
      "/v1/jobs/job_1/results": [short, whole],
    });
    expect(await rowsOf(client)).toEqual(all);
  });

  test("says how much came where it breaks again and again", async () => {
    const { client } = serve({
      "/v1/jobs/job_1/events": [ended],
      "/v1/jobs/job_1/results": [() => cut(text, 40)],
    });
    const failure = await rowsOf(client).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(IncompleteReplyError);
    expect(failure).toMatchObject({ received: 1 });
  });
});
