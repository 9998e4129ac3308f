import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { until } from "../support/caller.ts";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";
import { payFor } from "../support/made-up-facilitator.ts";
import { temporaryFolder } from "../support/process.ts";

/** A service that is paid by what a call can cost at most: its quotes, and all that it refuses. None of it is charged. */

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const MESSAGES = [{ role: "user", content: "hi" }];
const BODY = { model: "small", messages: MESSAGES, max_tokens: 100 };
const PRICES = { input_usd_per_million: "50", output_usd_per_million: "100", context_tokens: 100_000 };
const folder = temporaryFolder("refusals");
let world: InferenceWorld;

beforeAll(async () => {
  const models = join(folder.path, "models.json");
  await Bun.write(
    models,
    JSON.stringify({
      models: [
        { model: "small", upstream_model: "made-up-1", ...PRICES },
        {
          model: "cheap",
          upstream_model: "made-up-1",
          ...PRICES,
          input_usd_per_million: "0.1",
          max_output_tokens: 50,
        },
      ],
    }),
  );
  world = await openInferenceWorld({
    INFERENCE_PRICING: "cost_plus",
    MODELS_FILE: models,
    INFERENCE_BODY_BYTES_MAX: "65536",
  });
});
beforeEach(() => {
  world.upstream.setAnswer({});
  world.facilitator.setFault(null);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

type ErrorBody = {
  readonly error: { readonly code: string; readonly type: string; readonly param: string | null };
};

function post(
  path: string,
  body: string,
  headers: { readonly [name: string]: string } = {},
): Promise<Response> {
  return fetch(`${world.url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

async function refusalOf(response: Response): Promise<readonly unknown[]> {
  const { error } = (await response.json()) as ErrorBody;
  return [response.status, error.code, error.type, error.param];
}

/** Expects that nothing is charged meanwhile. */
async function free<T>(work: () => Promise<T>): Promise<T> {
  const before = world.facilitator.settled.size;
  const result = await work();
  expect(world.facilitator.settled.size).toBe(before);
  return result;
}

function quoteIdOf(challenged: Response): string {
  return JSON.parse(atob(challenged.headers.get("PAYMENT-REQUIRED") ?? "")).accepts[0].extra.quote_id;
}

describe("a quote", () => {
  test("is the price of the challenge, and binds it to these very bytes", async () => {
    const body = JSON.stringify(BODY);
    const quote = (await (await post("/v1/quote", body)).json()) as { amount: string; expires_at: string };
    const challenged = await post(CHAT, body);
    const { accepts } = JSON.parse(atob(challenged.headers.get("PAYMENT-REQUIRED") ?? ""));
    expect([challenged.status, accepts[0].amount]).toEqual([402, quote.amount]);
    expect(Number(quote.amount)).toBeGreaterThan(2000);
    const { "PAYMENT-SIGNATURE": signature } = payFor(challenged);
    const other = await free(() => post(CHAT, `${body} `, { "PAYMENT-SIGNATURE": signature }));
    expect(await refusalOf(other)).toEqual([402, "payment_invalid", "payment_error", null]);
    expect((await post(CHAT, body, { "PAYMENT-SIGNATURE": signature })).status).toBe(200);
  });

  test("of a cheap call is 0.002 USD", async () => {
    const quote = await post("/v1/quote", JSON.stringify({ ...BODY, max_tokens: 1 }));
    expect(await quote.json()).toMatchObject({ model: "small", output_tokens_max: 1 });
    const small = await openInferenceWorld();
    const flat = await fetch(`${small.url}/v1/quote`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(BODY),
    });
    expect(await flat.json()).toMatchObject({ amount: "10000", quote_id: null, expires_at: null });
    await small[Symbol.asyncDispose]();
  });

  test("buys nothing once its 300 s are over, and its kept answer all the same", async () => {
    const body = JSON.stringify({ ...BODY, user: "late" });
    const challenged = await post(CHAT, body);
    const late = payFor(challenged)["PAYMENT-SIGNATURE"];
    const bought = payFor(await post(CHAT, body))["PAYMENT-SIGNATURE"];
    const answer = await (await post(CHAT, body, { "PAYMENT-SIGNATURE": bought })).text();
    world.advance(301_000);
    const refused = await free(() => post(CHAT, body, { "PAYMENT-SIGNATURE": late }));
    expect(quoteIdOf(refused)).not.toBe(quoteIdOf(challenged));
    expect(await refused.clone().text()).toContain("the quote has expired");
    expect(await refusalOf(refused)).toEqual([402, "payment_invalid", "payment_error", null]);
    const again = { "PAYMENT-SIGNATURE": payFor(refused)["PAYMENT-SIGNATURE"] };
    expect((await post(CHAT, body, again)).status).toBe(200);
    expect(await (await post(CHAT, body, { "PAYMENT-SIGNATURE": bought })).text()).toBe(answer);
    expect(quoteIdOf(await post(CHAT, body))).not.toBe(quoteIdOf(challenged));
  });
});

test("what was bought is delivered when the table has changed, and nothing else of what it refuses", async () => {
  const models = join(folder.path, "changing.json");
  const writeTable = (row: object) =>
    Bun.write(
      models,
      JSON.stringify({ models: [{ model: "small", upstream_model: "made-up-1", ...PRICES, ...row }] }),
    );
  await writeTable({ input_usd_per_million: "1", output_usd_per_million: "1" });
  await using world = await openInferenceWorld({ INFERENCE_PRICING: "cost_plus", MODELS_FILE: models });
  const send = async (path: string, user: string, headers: object = {}) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json", ...headers } };
    return await fetch(`${world.url}${path}`, { ...init, body: JSON.stringify({ ...BODY, user }) });
  };
  const signed = async (path: string, user: string) => {
    const { "PAYMENT-SIGNATURE": signature } = payFor(await send(path, user));
    return () => send(path, user, { "PAYMENT-SIGNATURE": signature });
  };
  const [bought, unused, open] = await Promise.all(["1", "2", "3"].map((user) => signed(CHAT, user)));
  const task = await signed("/task-request", "4");
  if (bought === undefined || unused === undefined || open === undefined) throw new Error("no calls");
  const answer = await (await bought()).text();
  let settlements = 0;
  world.facilitator.setFault((path) => {
    if (path === "verify") return Response.json({ isValid: true });
    settlements += 1;
    return new Response("", { status: 500 });
  });
  const { status_url: statusUrl } = (await (await task()).json()) as { status_url: string };
  await until("the settlement of the task", async () => settlements > 0);
  expect((await open()).status).toBe(503);
  for (const row of [{ model: "other" }, { max_output_tokens: 50 }]) {
    await writeTable(row);
    await world.restart();
    expect(await (await bought()).text()).toBe(answer);
    expect([(await unused()).status, (await open()).status]).toEqual([row.model ? 404 : 400, 503]);
  }
  world.facilitator.setFault(null);
  await until("answer", async () => (await open()).status === 200);
  await until("the end of the task", async () => {
    return ((await (await fetch(statusUrl)).json()) as { status: string }).status === "done";
  });
  expect((await task()).status).toBe(202);
  expect(world.facilitator.settled.size).toBe(3);
  for (const { body } of world.upstream.calls) expect(JSON.parse(body).model).toBe("made-up-1");
});

test("a refusal by the rate limit names the payment, too, and is free", async () => {
  const busy = await openInferenceWorld({ PUBLIC_REQUESTS_PER_SECOND: "1" });
  const paid = { "Content-Type": "application/json", ...payFor(await post(CHAT, JSON.stringify(BODY))) };
  const send = () => fetch(`${busy.url}${CHAT}`, { method: "POST", headers: paid, body: "{}" });
  const replies = await Promise.all(Array.from({ length: 5 }, send));
  expect(replies.map(({ status }) => status)).toContain(429);
  const ids = new Set(replies.map(({ headers }) => headers.get("X-Payment-Id")));
  expect([...ids]).toEqual([expect.stringMatching(/^pay_[0-9a-f]{32}$/)]);
  expect(busy.facilitator.settled.size).toBe(0);
  await busy[Symbol.asyncDispose]();
});

describe("before a payment is asked for", () => {
  const image = { type: "image_url", image_url: { url: "https://pictures.example/1.png" } };
  const audio = { type: "input_audio", input_audio: {} };
  test.each([
    [
      "a model that is not served",
      { ...BODY, model: "other" },
      [404, "not_found", "invalid_request_error", "model"],
    ],
    [
      "an image where none are taken",
      { ...BODY, messages: [{ role: "user", content: [image] }] },
      [400, "invalid_request", "invalid_request_error", "messages"],
    ],
    [
      "a part without a price",
      { ...BODY, messages: [{ role: "user", content: [audio] }] },
      [400, "invalid_request", "invalid_request_error", "messages"],
    ],
    ["n = 1e9", { ...BODY, n: 1e9 }, [400, "invalid_request", "invalid_request_error", "n"]],
    [
      "more max_tokens than the table has",
      { ...BODY, model: "cheap", max_tokens: 51 },
      [400, "invalid_request", "invalid_request_error", "max_tokens"],
    ],
    [
      "a service_tier of another price",
      { ...BODY, service_tier: "priority" },
      [400, "invalid_request", "invalid_request_error", "service_tier"],
    ],
    [
      "a negative max_tokens",
      { ...BODY, max_tokens: -1 },
      [400, "invalid_request", "invalid_request_error", "max_tokens"],
    ],
    [
      "a long model",
      { ...BODY, model: "m".repeat(257) },
      [400, "invalid_request", "invalid_request_error", "model"],
    ],
    [
      "a body that is too large",
      { ...BODY, user: "x".repeat(70_000) },
      [413, "payload_too_large", "invalid_request_error", null],
    ],
  ] as const)("%s is refused, by a quote too", async (_, body, expected) => {
    for (const path of [CHAT, "/v1/quote", "/task-request"]) {
      expect(await refusalOf(await post(path, JSON.stringify(body)))).toEqual([...expected]);
    }
  });

  test("no JSON, another type, half a character and a nest of 100,000 brackets are refused", async () => {
    expect(await refusalOf(await post(CHAT, "{"))).toEqual([
      400,
      "invalid_json",
      "invalid_request_error",
      null,
    ]);
    const type = { "Content-Type": "text/plain" };
    expect(await refusalOf(await post(CHAT, JSON.stringify(BODY), type))).toEqual([
      415,
      "unsupported_media_type",
      "invalid_request_error",
      null,
    ]);
    const nested = JSON.stringify({ ...BODY, x: 0 }).replace(
      '"x":0',
      `"x":${"[".repeat(30_000)}${"]".repeat(30_000)}`,
    );
    expect((await refusalOf(await post(CHAT, nested)))[0]).toBe(400);
    const half = Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3]), Buffer.from('"}')]);
    const sent = await fetch(`${world.url}${CHAT}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: half,
    });
    expect((await refusalOf(sent))[1]).toBe("invalid_json");
  });
});

describe("a task", () => {
  test("that may cost more than a task does is refused, and one that may not is taken", async () => {
    const dear = await post("/task-request", JSON.stringify(BODY));
    expect(await refusalOf(dear)).toEqual([400, "invalid_request", "invalid_request_error", "max_tokens"]);
    const cheap = await world.pay("/task-request", { ...BODY, model: "cheap", max_tokens: 50 });
    expect(cheap.status).toBe(202);
    const { status_url: url } = (await cheap.json()) as { status_url: string };
    await until("the end of the task", async () => {
      return ((await (await fetch(url)).json()) as { status: string }).status === "done";
    });
  });
});

describe("with a payment", () => {
  test("that is nonsense, for less, or to somebody else, is challenged anew", async () => {
    const body = JSON.stringify(BODY);
    const challenged = await post(CHAT, body);
    const good = JSON.parse(atob(payFor(challenged)["PAYMENT-SIGNATURE"]));
    const less = structuredClone(good);
    less.accepted.amount = "1";
    less.payload.authorization.value = "1";
    const elsewhere = structuredClone(good);
    elsewhere.accepted.payTo = `0x${"12".repeat(20)}`;
    const unquoted = structuredClone(good);
    delete unquoted.accepted.extra.quote_id;
    for (const payment of [
      "x",
      btoa("{}"),
      ...[less, elsewhere, unquoted].map((one) => btoa(JSON.stringify(one))),
    ]) {
      const refused = await free(() => post(CHAT, body, { "PAYMENT-SIGNATURE": payment }));
      expect([payment, refused.status, refused.headers.has("PAYMENT-REQUIRED")]).toEqual([
        payment,
        402,
        true,
      ]);
      expect((await refusalOf(refused)).slice(1)).toEqual(["payment_invalid", "payment_error", null]);
    }
  });

  test("that is in work already is 409", async () => {
    world.upstream.setAnswer({ delayMs: 400 });
    const body = JSON.stringify({ ...BODY, user: "twice" });
    const headers = { "PAYMENT-SIGNATURE": payFor(await post(CHAT, body))["PAYMENT-SIGNATURE"] };
    const calls = world.upstream.calls.length;
    const first = post(CHAT, body, headers);
    await until("call at the upstream", () => world.upstream.calls.length > calls);
    expect(await refusalOf(await post(CHAT, body, headers))).toEqual([
      409,
      "payment_in_use",
      "invalid_request_error",
      null,
    ]);
    expect((await first).status).toBe(200);
  });

  test("is 409 until the end of the stream that it buys, and its caller may leave at any moment", async () => {
    world.upstream.setAnswer({ breakAfter: 2, breakBy: "hang" });
    const body = JSON.stringify({ ...BODY, stream: true });
    const settled = world.facilitator.settled.size;
    const headers = { "PAYMENT-SIGNATURE": payFor(await post(CHAT, body))["PAYMENT-SIGNATURE"] };
    const leaving = new AbortController();
    const call = { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } };
    expect((await fetch(`${world.url}${CHAT}`, { ...call, signal: leaving.signal })).status).toBe(200);
    const calls = world.upstream.calls.length;
    expect((await refusalOf(await post(CHAT, body, headers))).slice(0, 2)).toEqual([409, "payment_in_use"]);
    leaving.abort();
    await until("end", async () => (await post(CHAT, body, headers)).status === 200);
    expect(await (await post(CHAT, body, headers)).text()).toContain('"receipt":"');
    expect([world.upstream.calls.length, world.facilitator.settled.size]).toEqual([calls, settled + 1]);
  });

  test("has its answer also where the caller of a stream leaves while it is settled", async () => {
    const body = JSON.stringify({ ...BODY, stream: true });
    const headers = { "PAYMENT-SIGNATURE": payFor(await post(CHAT, body))["PAYMENT-SIGNATURE"] };
    const settling = Promise.withResolvers<void>();
    const going = Promise.withResolvers<void>();
    world.facilitator.setFault(async (path) => {
      if (path === "verify") return Response.json({ isValid: true });
      settling.resolve();
      await going.promise;
      return Response.json({ success: true, transaction: "0x1", network: "eip155:8453" });
    });
    const leaving = new AbortController();
    const call = { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } };
    const left = fetch(`${world.url}${CHAT}`, { ...call, signal: leaving.signal }).catch(() => null);
    await settling.promise;
    leaving.abort();
    await left;
    going.resolve();
    world.facilitator.setFault(null);
    const settled = world.facilitator.settled.size;
    let text = "";
    await until("answer", async () => {
      const reply = await post(CHAT, body, headers);
      text = await reply.text();
      return reply.status === 200;
    });
    expect(text).toContain('"content":"reader"');
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(await (await post(CHAT, body, headers)).text()).toBe(text);
    expect(world.facilitator.settled.size).toBe(settled);
  });

  test("whose settlement is refused is 402, and of which nobody knows is 503, not to be tried by itself", async () => {
    for (const stream of [false, true]) {
      const body = JSON.stringify({ ...BODY, stream });
      const settle = (reply: () => Response) =>
        world.facilitator.setFault((path) =>
          path === "verify"
            ? Response.json({ isValid: true })
            : path === "settle"
              ? reply()
              : Response.json({ kinds: [] }),
        );
      settle(() => Response.json({ success: false, errorReason: "insufficient_funds" }));
      const refused = await free(() => world.pay(CHAT, body));
      expect((await refusalOf(refused)).slice(0, 2)).toEqual([402, "payment_invalid"]);
      settle(() => new Response("boom", { status: 500 }));
      const unknown = await world.pay(CHAT, body);
      expect([unknown.headers.get("x-should-retry"), unknown.headers.has("Retry-After")]).toEqual([
        "false",
        true,
      ]);
      expect((await refusalOf(unknown)).slice(0, 3)).toEqual([503, "settlement_unknown", "api_error"]);
    }
  });
});

test("callers who leave in the middle of what they send do no harm", async () => {
  const body = JSON.stringify(BODY);
  const text = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { port } = new URL(world.url);
  for (let sent = 0; sent < text.length; sent += 1) {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data() {} } });
    socket.write(text.slice(0, sent));
    socket.flush();
    socket.terminate();
  }
  expect((await post("/v1/quote", body)).status).toBe(200);
});
