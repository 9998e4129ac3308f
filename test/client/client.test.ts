import { afterEach, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../src/client/client.ts";
import { IncompleteReplyError, RefusedError, UnreachableError } from "../../src/client/failure.ts";

/** A server that answers as given, call by call; after the last answer it repeats it. */
type Call = {
  readonly path: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
};
type Answer = (call: Call) => Response | Promise<Response>;

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const part of opened.splice(0)) await part[Symbol.asyncDispose]();
});

function serve(...answers: Answer[]) {
  const calls: Call[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const { method, headers } = request;
      const call = { path: url.pathname + url.search, method, headers, body: await request.text() };
      calls.push(call);
      const answer = answers[Math.min(calls.length, answers.length) - 1];
      return answer === undefined ? new Response(null, { status: 500 }) : answer(call);
    },
  });
  opened.push({ [Symbol.asyncDispose]: () => server.stop(true) });
  return { url: server.url.origin, calls };
}

function clientOf(baseUrl: string, more: { retriesMax?: number; retryWaitMaxMs?: number } = {}) {
  const pauses: number[] = [];
  const client: Client = createClient({
    baseUrl,
    apiKey: "asy_test",
    pause: async (ms) => void pauses.push(ms),
    ...more,
  });
  return { client, pauses };
}

const refusal =
  (status: number, code: string, headers = {}) =>
  () =>
    Response.json({ error: { code, message: `It is ${code}.` } }, { status, headers });
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");

describe("a call", () => {
  test("carries the key and the body, and gives the reply", async () => {
    const { url, calls } = serve(() => Response.json({ status: "deliverable" }));
    const { client } = clientOf(`${url}/`);
    const result = await client.verifyEmail("a@b.co", { deep: true });
    expect(result.status).toBe("deliverable");
    expect(calls[0]?.path).toBe("/v1/email/verify");
    expect(calls[0]?.headers.get("authorization")).toBe("Bearer asy_test");
    expect(JSON.parse(calls[0]?.body ?? "")).toEqual({ email: "a@b.co", deep: true });
  });

  test("writes queries out whole", async () => {
    const { url, calls } = serve(() => Response.json({}));
    const { client } = clientOf(url);
    await client.listings({ q: "mail & more", min_score: 80 });
    await client.listing("a/b.example");
    expect(calls.map(({ path }) => path)).toEqual([
      "/v1/directory?q=mail+%26+more&min_score=80",
      "/v1/directory/a%2Fb.example",
    ]);
  });

  test("says of a refusal what the API says", async () => {
    const { url } = serve(refusal(402, "quota_exceeded", { "Retry-After": "900", "X-Request-Id": "req_1" }));
    const { client, pauses } = clientOf(url);
    const failure = await client.verifyEmail("a@b.co").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RefusedError);
    expect(failure).toMatchObject({
      status: 402,
      code: "quota_exceeded",
      message: "It is quota_exceeded.",
      requestId: "req_1",
      retryAfterSeconds: 900,
    });
    expect(pauses).toEqual([]);
  });

  test("names a reply that is not of the API", async () => {
    const { url } = serve(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    const { client } = clientOf(url);
    await expect(client.plans()).rejects.toMatchObject({ status: 502, code: "unreadable_reply" });
  });
});

describe("sending again", () => {
  test("waits as long as 429 and 503 ask, under one idempotency key", async () => {
    const { url, calls } = serve(
      refusal(429, "rate_limited", { "Retry-After": "2" }),
      refusal(503, "overloaded", { "Retry-After": "1" }),
      refusal(503, "overloaded"),
      () => Response.json({ valid: true }),
    );
    const { client, pauses } = clientOf(url);
    expect((await client.validatePhone("+5511987654321")).valid).toBe(true);
    expect(pauses).toEqual([2000, 1000, 1000]);
    const keys = new Set(calls.map(({ headers }) => headers.get("idempotency-key")));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  test("gives up after retriesMax, and at once where the wait is too long", async () => {
    const { url, calls } = serve(refusal(429, "rate_limited", { "Retry-After": "5" }));
    const patient = clientOf(url, { retriesMax: 2 });
    await expect(patient.client.account()).rejects.toMatchObject({ code: "rate_limited" });
    expect(calls.length).toBe(3);
    const hasty = clientOf(url, { retryWaitMaxMs: 4000 });
    await expect(hasty.client.account()).rejects.toMatchObject({ retryAfterSeconds: 5 });
    expect(calls.length).toBe(4);
    expect(hasty.pauses).toEqual([]);
  });

  test("repeats what a proxy answers in the place of the server, but for a POST without a key", async () => {
    const proxied = [502, 504, 200].map(
      (status) => () => new Response("<h1>Bad gateway</h1>", { status, headers: { "Retry-After": "9" } }),
    );
    const { url, calls } = serve(...proxied, () => Response.json({ valid: true }));
    const { client, pauses } = clientOf(url);
    expect((await client.validatePhone("+5511987654321")).valid).toBe(true);
    expect(pauses).toEqual([250, 500, 1000]);
    expect(new Set(calls.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    for (const answer of proxied) {
      const other = serve(answer);
      const unkeyed = clientOf(other.url).client.verifyEmail("a@b.co", { idempotencyKey: null });
      await expect(unkeyed).rejects.toMatchObject({ code: "unreadable_reply" });
      expect(other.calls).toHaveLength(1);
    }
  });

  test.each([503, 520, 521, 522, 523, 524])(
    "repeats a proxy's %i where sending twice is harmless only",
    async (status) => {
      const page = () => new Response("<h1>No server</h1>", { status, headers: { "Retry-After": "9" } });
      const keyed = serve(page, () => Response.json({ valid: true }));
      const { client, pauses } = clientOf(keyed.url);
      expect((await client.validatePhone("+5511987654321")).valid).toBe(true);
      expect(pauses).toEqual([status === 503 ? 9000 : 250]);
      const unkeyed = serve(page);
      const call = clientOf(unkeyed.url).client.verifyEmail("a@b.co", { idempotencyKey: null });
      await expect(call).rejects.toMatchObject({ status, code: "unreadable_reply" });
      expect(unkeyed.calls).toHaveLength(1);
    },
  );

  test("a key that no header can hold is refused before any call, one with a line end behind it is taken", async () => {
    const { url, calls } = serve(() => Response.json({ plan: "free" }));
    await createClient({ baseUrl: url, apiKey: "asy_one\n" }).account();
    expect(calls[0]?.headers.get("authorization")).toBe("Bearer asy_one");
    expect(() => createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "asy_one\nasy_two" })).toThrow(
      new TypeError("apiKey holds a character that no key has, such as a line end."),
    );
  });

  test("does not repeat other refusals", async () => {
    const { url, calls } = serve(refusal(500, "internal_error"));
    await expect(clientOf(url).client.verifyEmail("a@b.co")).rejects.toMatchObject({ status: 500 });
    expect(calls.length).toBe(1);
  });

  test("repeats a POST whose reply broke off, and waits for its own first attempt", async () => {
    const { url, heads } = serveRaw(
      raw("200 OK", '{"count":1,"results":[', 1000),
      raw("409 Conflict", '{"error":{"code":"idempotency_in_progress","message":"Still running."}}'),
      raw("200 OK", '{"count":1}'),
    );
    const { client, pauses } = clientOf(url);
    expect((await client.verifyEmails(["a@b.co"])).count).toBe(1);
    expect(pauses).toEqual([250, 500]);
    const keys = heads.map((head) => /idempotency-key: (\S+)/i.exec(head)?.[1]);
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[0]).toBeString();
  });

  test("its own attempt that runs on is waited for as long as the server asks, beside retriesMax", async () => {
    const running = refusal(409, "idempotency_in_progress", { "Retry-After": "1" });
    const lost = () => new Response("<h1>Gateway time-out</h1>", { status: 504 });
    const { url, calls } = serve(lost, ...Array.from({ length: 90 }, () => running), lost, running, () =>
      Response.json({ count: 1 }),
    );
    const { client, pauses } = clientOf(url, { retriesMax: 2 });
    expect((await client.verifyEmails(["a@b.co"])).count).toBe(1);
    expect(pauses).toEqual([250, ...Array.from({ length: 90 }, () => 1000), 500, 1000]);
    expect(new Set(calls.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
  });

  test("waits for its own attempt up to 15 minutes, then says the key under which its reply is kept", async () => {
    const { url, calls } = serve(
      () => new Response(null, { status: 502 }),
      refusal(409, "idempotency_in_progress", { "Retry-After": "50" }),
    );
    const { client, pauses } = clientOf(url);
    const failure = await client.verifyEmails(["a@b.co"]).catch((error: unknown) => error);
    const key = calls[0]?.headers.get("idempotency-key");
    expect(failure).toMatchObject({ code: "idempotency_in_progress", idempotencyKey: key });
    expect(pauses).toEqual([250, ...Array.from({ length: 18 }, () => 50_000)]);
  });

  test("a failure says the key of its call, or that it had none", async () => {
    const { url, calls } = serve(refusal(402, "quota_exceeded"));
    const refused = await clientOf(url)
      .client.verifyEmail("a@b.co")
      .catch((error: unknown) => error);
    expect(calls[0]?.headers.get("idempotency-key")).toBeString();
    expect(refused).toMatchObject({ idempotencyKey: calls[0]?.headers.get("idempotency-key") });
    const { client } = clientOf("http://127.0.0.1:1");
    const sent = client.verifyEmail("a@b.co", { idempotencyKey: "mine" });
    await expect(sent).rejects.toMatchObject({ name: "UnreachableError", idempotencyKey: "mine" });
    await expect(client.signUp({ email: "a@b.co" })).rejects.toMatchObject({ idempotencyKey: null });
    const cut = serve(() => new Response(`${lines({ email: "a@b.co" })}\n`));
    const walk = Array.fromAsync(clientOf(cut.url).client.streamEmails(["a@b.co"]));
    const failure = await walk.catch((error: unknown) => error);
    expect(cut.calls[0]?.headers.get("idempotency-key")).toBeString();
    expect(failure).toMatchObject({ idempotencyKey: cut.calls[0]?.headers.get("idempotency-key") });
  });

  test("an address that is none is refused before any call, and one that does not answer is named", async () => {
    for (const baseUrl of ["nonsense", "127.0.0.1:3000", "ftp://127.0.0.1", ""])
      expect(() => createClient({ baseUrl })).toThrow(
        new TypeError(`baseUrl must be an http or https address, not "${baseUrl}".`),
      );
    await expect(createClient({ baseUrl: "http://127.0.0.1:1/", retriesMax: 0 }).plans()).rejects.toThrow(
      new UnreachableError("http://127.0.0.1:1 does not answer, or broke off its reply."),
    );
  });

  test("does not repeat a POST without a key, nor a foreign 409", async () => {
    const gone = "http://127.0.0.1:1";
    const { client, pauses } = clientOf(gone);
    await expect(client.verifyEmail("a@b.co", { idempotencyKey: null })).rejects.toThrow(UnreachableError);
    await expect(client.signUp({ email: "a@b.co" })).rejects.toThrow(UnreachableError);
    expect(pauses).toEqual([]);
    const { url, calls } = serve(refusal(409, "idempotency_in_progress"));
    await expect(clientOf(url).client.verifyEmail("a@b.co", { idempotencyKey: "mine" })).rejects.toThrow();
    expect(calls.length).toBe(1);
    expect(calls[0]?.headers.get("idempotency-key")).toBe("mine");
  });

  test("a GET to a server that is gone is tried retriesMax times more", async () => {
    const { client, pauses } = clientOf("http://127.0.0.1:1");
    await expect(client.health()).rejects.toThrow(UnreachableError);
    expect(pauses).toEqual([250, 500, 1000, 2000]);
  });
});

describe("a stream of results", () => {
  test("gives results before the reply has ended, then the summary", async () => {
    let finish = () => {};
    const { url, calls } = serve(() => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from('{"email":"a@b.co"}\n{"email":"é'));
          finish = () => {
            controller.enqueue(Buffer.from('@b.co"}\n{"count":2,"summary":{"risky":2}}\n'));
            controller.close();
          };
        },
      });
      return new Response(body);
    });
    const { client } = clientOf(url);
    const stream = client.streamEmails(["a@b.co", "é@b.co"]);
    expect(stream.end()).toBeNull();
    const emails: string[] = [];
    for await (const { email } of stream) {
      emails.push(email);
      if (emails.length === 1) finish();
    }
    expect(emails).toEqual(["a@b.co", "é@b.co"]);
    expect(stream.end()).toMatchObject({ count: 2, summary: { risky: 2 } });
    expect(calls[0]?.headers.get("accept")).toBe("application/x-ndjson");
  });

  test.each([
    ["between two lines", `${lines({ email: "a@b.co" })}\n`, 1],
    ["inside a line", `${lines({ email: "a@b.co" })}\n{"ema`, 1],
    ["before the first", "", 0],
  ])("notices a reply that ends %s", async (_, text, received) => {
    const { url } = serve(() => new Response(text));
    const { client } = clientOf(url);
    const walk = Array.fromAsync(client.streamEmails(["a@b.co", "c@d.co"]));
    const failure = await walk.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(IncompleteReplyError);
    expect(failure).toMatchObject({ received });
  });

  test("notices a connection that breaks", async () => {
    const { url } = serveRaw(raw("200 OK", `${lines({ email: "a@b.co" })}\n`, 1000));
    const { client } = clientOf(url);
    await expect(Array.fromAsync(client.streamEmails(["a@b.co"]))).rejects.toThrow(IncompleteReplyError);
  });

  test("leaving early ends the reply", async () => {
    let left = false;
    const { url } = serve(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(Buffer.from(`{"email":"a@b.co"}\n`.repeat(100))),
            cancel() {
              left = true;
            },
          }),
        ),
    );
    const { client } = clientOf(url);
    for await (const result of client.streamEmails(["a@b.co"])) {
      expect(result.email).toBe("a@b.co");
      break;
    }
    while (!left) await Bun.sleep(1);
  });
});

describe("cancelling", () => {
  test("ends a call that waits for its reply", async () => {
    const { url } = serve(() => new Promise<Response>(() => {}));
    const stop = new AbortController();
    const call = clientOf(url).client.verifyEmail("a@b.co", { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });

  test("ends a pause and a stream", async () => {
    const { url } = serve(refusal(429, "rate_limited", { "Retry-After": "30" }));
    const stop = new AbortController();
    const call = createClient({ baseUrl: url }).account({ signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");

    const endless = serve(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(Buffer.from(`{"email":"a@b.co"}\n`)),
          }),
        ),
    );
    const stopStream = new AbortController();
    const stream = clientOf(endless.url).client.streamEmails(["a@b.co"], { signal: stopStream.signal });
    const walk = (async () => {
      for await (const _ of stream) stopStream.abort(new Error("enough"));
    })();
    await expect(walk).rejects.toThrow("enough");
  });
});

/** A server of which each connection gets the next of these replies, raw, and is then broken off. */
function serveRaw(...replies: string[]) {
  const heads: string[] = [];
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const text = bytes.toString();
        if (!text.startsWith("POST")) return;
        heads.push(text);
        socket.end(replies[heads.length - 1] ?? "");
      },
    },
  });
  opened.push({
    async [Symbol.asyncDispose]() {
      server.stop(true);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, heads };
}

function raw(status: string, text: string, length = Buffer.byteLength(text)): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${text}`;
}
