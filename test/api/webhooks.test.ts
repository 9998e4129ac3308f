import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type {
  CreatedWebhookBody,
  DeliveryBody,
  DeliveryListBody,
  RotatedSecretBody,
  WebhookBody,
} from "../../src/contract/specification/webhooks/webhook-replies.ts";
import { jsonOf, refusalBodyOf } from "../support/json.ts";
import { refusalOf, startFileServer, startTestServer, type TestServer } from "../support/server.ts";

let strict: TestServer;
const server = await startFileServer({ environment: { WEBHOOK_ALLOW_PRIVATE: "true" } });
beforeAll(async () => {
  strict = await startTestServer();
});
afterAll(async () => {
  await strict[Symbol.asyncDispose]();
});

const URL_SAMPLE = "https://hooks.example.com/in";
const make = async (key: string, body: unknown = { url: URL_SAMPLE }, at = strict) =>
  jsonOf<CreatedWebhookBody>(await at.call("/v1/webhooks", { key, body }));

test("a webhook is made with a secret that is shown once, listed, changed and deleted", async () => {
  const key = await strict.signUp();
  const body = { url: URL_SAMPLE, events: ["job.failed", "job.completed"], description: "mine" };
  const made = await strict.call("/v1/webhooks", { key, body });
  expect(made.status).toBe(201);
  const { secret, ...webhook } = await jsonOf<CreatedWebhookBody>(made);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    webhook_id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
    url: URL_SAMPLE,
    events: ["job.completed", "job.failed"],
    description: "mine",
    enabled: true,
    disabled_reason: null,
    failing_since: null,
    created_at: expect.any(String),
  });
  const listed = await strict.call("/v1/webhooks", { key });
  expect(await jsonOf<unknown>(listed)).toEqual({ data: [webhook] });
  const path = `/v1/webhooks/${webhook.webhook_id}`;
  const changed = await strict.call(path, {
    key,
    method: "PATCH",
    body: { enabled: false, events: ["job.paused"], url: `${URL_SAMPLE}2` },
  });
  expect(await jsonOf<WebhookBody>(changed)).toEqual({
    ...webhook,
    enabled: false,
    disabled_reason: "by_caller",
    events: ["job.paused"],
    url: `${URL_SAMPLE}2`,
  });
  expect(await refusalOf(await strict.call(`${path}/test`, { key, body: {} }))).toBe("400 invalid_request");
  expect((await strict.call(path, { key, method: "DELETE" })).status).toBe(204);
  expect(await refusalOf(await strict.call(path, { key, method: "DELETE" }))).toBe("404 not_found");
});

test.each([
  ["no address", {}],
  ["an invalid address", { url: "hooks" }],
  ["plain http", { url: "http://hooks.example.com/" }],
  ["another port", { url: "https://hooks.example.com:8080/" }],
  ["an IPv4 address", { url: "https://127.0.0.1/" }],
  ["an IPv4 address as one number", { url: "https://2130706433/" }],
  ["an IPv6 address", { url: "https://[::1]/" }],
  ["a local name", { url: "https://localhost/" }],
  ["a name of the internal network", { url: "https://metadata.google.internal/" }],
  ["a name longer than the DNS allows", { url: `https://${"a.".repeat(126)}example/` }],
  ["a label longer than the DNS allows", { url: `https://${"a".repeat(64)}.example/` }],
  ["a password", { url: "https://user:word@hooks.example.com/" }],
  ["no event", { url: URL_SAMPLE, events: [] }],
  ["an unknown event", { url: URL_SAMPLE, events: ["job.started"] }],
])("%s is refused", async (_, body) => {
  const reply = await strict.call("/v1/webhooks", { key: await strict.signUp(), body });
  expect(await refusalOf(reply)).toBe("400 invalid_request");
});

test.each([
  ["PATCH", "", { url: "http://hooks.example.com/" }],
  ["PATCH", "", { url: "https://169.254.169.254/" }],
  ["PATCH", "", { url: `https://${"a".repeat(64)}.example/` }],
  ["PATCH", "", { events: [] }],
  ["PATCH", "", { events: ["job.started"] }],
  ["PATCH", "", { enabled: "yes" }],
  ["POST", "/rotate-secret", { overlap_seconds: -1 }],
  ["POST", "/rotate-secret", { overlap_seconds: "60" }],
])("%s %s with %j is refused, and changes nothing", async (method, path, body) => {
  const key = await strict.signUp();
  const { secret: _, ...webhook } = await make(key);
  const reply = await strict.call(`/v1/webhooks/${webhook.webhook_id}${path}`, { key, method, body });
  expect(await refusalOf(reply)).toBe("400 invalid_request");
  expect(await jsonOf<unknown>(await strict.call("/v1/webhooks", { key }))).toEqual({ data: [webhook] });
});

test("an unknown delivery, or one of another webhook, cannot be replayed", async () => {
  const key = await strict.signUp();
  const [one, other] = [await make(key), await make(key)];
  const tested = await strict.call(`/v1/webhooks/${other.webhook_id}/test`, { key, body: {} });
  const { delivery_id } = await jsonOf<DeliveryBody>(tested);
  for (const id of ["dlv_none", delivery_id]) {
    const path = `/v1/webhooks/${one.webhook_id}/deliveries/${id}/replay`;
    expect(await refusalOf(await strict.call(path, { key, body: {} }))).toBe("404 not_found");
  }
});

test("an account has at most 20 webhooks", async () => {
  const key = await strict.signUp();
  for (let n = 0; n < 20; n++) await make(key);
  const reply = await strict.call("/v1/webhooks", { key, body: { url: URL_SAMPLE } });
  expect((await refusalBodyOf(reply)).error.message).toBe("An account has at most 20 webhooks.");
});

test("an account sees, changes and tests its own webhooks alone", async () => {
  const { webhook_id } = await make(await strict.signUp());
  const key = await strict.signUp();
  const path = `/v1/webhooks/${webhook_id}`;
  const replies = [
    await strict.call(path, { key, method: "PATCH", body: { enabled: false } }),
    await strict.call(path, { key, method: "DELETE" }),
    await strict.call(`${path}/rotate-secret`, { key, body: {} }),
    await strict.call(`${path}/test`, { key, body: {} }),
    await strict.call(`${path}/deliveries`, { key }),
    await strict.call(`${path}/deliveries/dlv_1/replay`, { key, body: {} }),
  ];
  expect(await Promise.all(replies.map(refusalOf))).toEqual(replies.map(() => "404 not_found"));
  expect(await jsonOf<unknown>(await strict.call("/v1/webhooks", { key }))).toEqual({ data: [] });
});

test("a key that may only read lists webhooks and changes none", async () => {
  const owner = await strict.signUp();
  const scoped = await strict.call("/v1/account/keys", { key: owner, body: { scopes: ["read"] } });
  const { api_key: key } = await jsonOf<{ readonly api_key: string }>(scoped);
  expect((await strict.call("/v1/webhooks", { key })).status).toBe(200);
  const reply = await strict.call("/v1/webhooks", { key, body: { url: URL_SAMPLE } });
  expect(await refusalOf(reply)).toBe("403 forbidden");
});

test("a call with an Idempotency-Key makes one webhook, and shows its secret again", async () => {
  const key = await strict.signUp();
  const headers = { "Idempotency-Key": "once" };
  const call = () => strict.call("/v1/webhooks", { key, headers, body: { url: URL_SAMPLE } });
  const [first, second] = [await (await call()).text(), await (await call()).text()];
  expect(second).toBe(first);
  const { data } = await jsonOf<{ data: unknown[] }>(await strict.call("/v1/webhooks", { key }));
  expect(data).toHaveLength(1);
});

test("a test event arrives signed, is listed with its answer, and is sent again on demand", async () => {
  const arrivals: { headers: Record<string, string>; body: string }[] = [];
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      arrivals.push({ headers: Object.fromEntries(request.headers.entries()), body: await request.text() });
      arrived[arrivals.length - 1]?.resolve();
      return new Response("thanks");
    },
  });
  const key = await server.signUp();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const { webhook_id, secret } = await make(key, { url, events: ["job.failed"] }, server);
  const path = `/v1/webhooks/${webhook_id}`;
  const sent = await server.call(`${path}/test`, { key, method: "POST" });
  expect(sent.status).toBe(202);
  const { delivery_id } = await jsonOf<DeliveryBody>(sent);
  await arrived[0]?.promise;
  const rotated = await server.call(`${path}/rotate-secret`, { key, body: { overlap_seconds: 3_600 } });
  expect(rotated.status).toBe(201);
  const { secret: newSecret } = await jsonOf<RotatedSecretBody>(rotated);
  const delivered = async () => {
    const page = await jsonOf<DeliveryListBody>(await server.call(`${path}/deliveries`, { key }));
    return page.data[0];
  };
  while ((await delivered())?.state !== "delivered") await new Promise((resolve) => setImmediate(resolve));
  expect(await delivered()).toMatchObject({
    delivery_id,
    type: "webhook.test",
    state: "delivered",
    attempts: 1,
    status: 200,
    answer: "thanks",
    next_attempt_at: null,
  });
  const replayed = await server.call(`${path}/deliveries/${delivery_id}/replay`, { key, method: "POST" });
  expect(replayed.status).toBe(202);
  await arrived[1]?.promise;
  const [first, second] = arrivals;
  if (first === undefined || second === undefined) throw new Error("not sent");
  new Webhook(secret).verify(first.body, first.headers);
  for (const each of [secret, newSecret]) new Webhook(each).verify(second.body, second.headers);
  expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"] ?? "");
});

test("deliveries come in pages, newest first", async () => {
  const key = await strict.signUp();
  const { webhook_id } = await make(key);
  const path = `/v1/webhooks/${webhook_id}`;
  for (let n = 0; n < 3; n++) await strict.call(`${path}/test`, { key, body: {} });
  const ids: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const after: string = cursor === "" ? "" : `&starting_after=${cursor}`;
    const reply = await strict.call(`${path}/deliveries?limit=2${after}`, { key });
    const page: DeliveryListBody = await jsonOf<DeliveryListBody>(reply);
    ids.push(...page.data.map(({ delivery_id }) => delivery_id));
    cursor = page.next_cursor;
  }
  expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
  const bad = await strict.call(`${path}/deliveries?starting_after=dlv_none`, { key });
  expect(await refusalOf(bad)).toBe("400 invalid_request");
});
