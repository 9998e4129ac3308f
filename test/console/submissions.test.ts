import { expect, test } from "bun:test";
import { createStore } from "../../src/console/page/state/store.ts";
import { type Connection, createApi } from "../../src/console/page/wire/api.ts";
import type { Account, CreatedKey, RotatedKey } from "../../src/console/page/wire/bodies.ts";
import { isOvertaken } from "../../src/console/page/wire/overtaken.ts";
import { Refusal, Unreachable } from "../../src/console/page/wire/refusal.ts";
import { startTestServer } from "../support/server.ts";

type Sent = { readonly path: string; readonly key: string | null };

/** The calls of a page whose network brings replies, loses them on their way, or has a proxy answer in their place. */
function page(held: string | null, network: (path: string, init: RequestInit) => Promise<Response>) {
  const key = createStore<string | null>(held);
  const sent: Sent[] = [];
  const refused: (string | null)[] = [];
  const api = createApi({
    async fetch(path, init) {
      sent.push({ path, key: new Headers(init.headers).get("Idempotency-Key") });
      return network(path, init);
    },
    key,
    onKeyRefused: () => void refused.push(key.get()),
    connection: createStore<Connection>("up"),
  });
  return { api, key, sent, refused };
}

const envelope = (status: number, code: string) =>
  Response.json({ error: { code, message: `It is ${code}.` } }, { status });

test("the own key that is rotated at once, its reply lost, is exchanged by the same press once more", async () => {
  await using server = await startTestServer();
  const first = await server.signUp();
  let isLost = true;
  const { api, key, refused } = page(first, async (path, init) => {
    const reply = await fetch(server.url + path, init);
    if (init.method === "POST" && isLost) throw new TypeError("the network is gone");
    return reply;
  });
  const keys = await api.read<{ readonly data: readonly { readonly key_id: string }[] }>("/v1/account/keys");
  const path = `/v1/account/keys/${keys.data[0]?.key_id}/rotate`;
  const rotate = () => api.send<RotatedKey>("POST", path, { overlap_seconds: 0 });
  await expect(rotate()).rejects.toBeInstanceOf(Unreachable);
  // The page asks for its list again once the server is back: it must not sign out before the new key is shown.
  await expect(api.read("/v1/account/keys")).rejects.toMatchObject({ status: 401 });
  expect(refused).toEqual([]);
  isLost = false;
  const { api_key } = await rotate();
  key.set(api_key);
  expect(await api.read<object>("/v1/account")).toHaveProperty("account_id");
});

test("a check whose reply broke off is charged once, pressed again; pressed once more it is another check", async () => {
  await using server = await startTestServer();
  let isCut = true;
  const { api } = page(await server.signUp(), async (path, init) => {
    const reply = await fetch(server.url + path, init);
    if (!isCut || init.method !== "POST") return reply;
    await reply.arrayBuffer();
    return new Response(new ReadableStream({ pull: (body) => body.error(new Error("reset")) }));
  });
  const check = () => api.send<object>("POST", "/v1/email/verify", { email: "ann@good.com" });
  const units = async () => (await api.read<Account>("/v1/account")).usage.units;
  await expect(check()).rejects.toBeInstanceOf(Unreachable);
  isCut = false;
  await check();
  expect(await units()).toBe(1);
  await check();
  expect(await units()).toBe(2);
});

test("a submission has one key until its reply comes, other content and another visitor one of their own", async () => {
  const replies = [
    new TypeError("gone"),
    new Response("<h1>Time-out</h1>", { status: 504 }),
    envelope(500, "internal_error"),
    envelope(409, "idempotency_in_progress"),
    envelope(429, "rate_limited"),
    envelope(400, "invalid_request"),
    Response.json({}),
    new TypeError("gone"),
    Response.json({}),
  ];
  const { api, key, sent } = page("asy_one", async () => {
    const next = replies.shift() ?? envelope(404, "not_found");
    if (next instanceof Error) throw next;
    return next;
  });
  const create = (name: string) =>
    api.send<CreatedKey>("POST", "/v1/account/keys", { name }).catch(() => undefined);
  for (let press = 0; press < 8; press += 1) await create("spring");
  key.set(null);
  key.set("asy_one");
  await create("spring");
  await create("autumn");
  await api.read("/v1/plans").catch(() => undefined);
  const keys = sent.map((call) => call.key);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(keys.slice(0, 6)).size).toBe(1);
  expect(new Set(keys.slice(5, 10)).size).toBe(5);
  expect(keys.at(-1)).toBeNull();
});

test("a late refusal of the key that was exchanged meanwhile signs nobody out, and the call is made with the new one", async () => {
  const authorizations: (string | null)[] = [];
  const replies: (() => Response)[] = [];
  const { api, key, refused } = page("asy_old", async (_, init) => {
    authorizations.push(new Headers(init.headers).get("Authorization"));
    return replies.shift()?.() ?? envelope(401, "bad_key");
  });
  replies.push(
    () => {
      key.set("asy_new");
      return envelope(401, "bad_key");
    },
    () => Response.json({ plan: "free" }),
  );
  expect(await api.read<object>("/v1/account")).toEqual({ plan: "free" });
  expect(authorizations).toEqual(["Bearer asy_old", "Bearer asy_new"]);
  expect(refused).toEqual([]);
  // What another visitor of the tab entered is not what the call was made with.
  replies.push(() => {
    key.set(null);
    key.set("asy_other");
    return envelope(401, "bad_key");
  });
  await expect(api.read("/v1/account")).rejects.toBeInstanceOf(Refusal);
  expect([authorizations.length, refused]).toEqual([3, []]);
  await expect(api.read("/v1/account")).rejects.toMatchObject({ status: 401 });
  expect(refused).toEqual(["asy_other"]);
});

test("a change whose reply was lost is made anew once another one of the same setting or object is made", async () => {
  await using server = await startTestServer();
  let isLost = true;
  const { api } = page(await server.signUp(), async (path, init) => {
    const reply = await fetch(server.url + path, init);
    if (init.method === "POST" && isLost) throw new TypeError("the network is gone");
    return reply;
  });
  const limit = (usd: string) =>
    api.send<Account>("POST", "/v1/account/plan", { plan: "starter", spend_limit_usd: usd });
  await expect(limit("40.00")).rejects.toBeInstanceOf(Unreachable);
  isLost = false;
  expect((await limit("90.00")).spend_limit_usd).toBe("90.00");
  await limit("40.00");
  expect((await api.read<Account>("/v1/account")).spend_limit_usd).toBe("40.00");
});

test.each([
  ["/v1/jobs/job_1/pause", "POST", "/v1/jobs/job_1/resume", true],
  ["/v1/jobs/job_1/pause", "POST", "/v1/jobs/job_2/resume", false],
  ["/v1/jobs?upload=parts&kind=email", "DELETE", "/v1/jobs/job_1", true],
  ["/v1/jobs?upload=parts&kind=email", "POST", "/v1/jobs?upload=parts&kind=phone", false],
  ["/v1/jobs?upload=parts&kind=email", "POST", "/v1/jobs/job_1/pause", false],
  ["/v1/webhooks", "DELETE", "/v1/webhooks/wh_1", true],
  ["/v1/webhooks/wh_1/rotate-secret", "PATCH", "/v1/webhooks/wh_1", true],
  ["/v1/account/keys/key_1/rotate", "DELETE", "/v1/account/keys/key_1", true],
  ["/v1/account/plan", "POST", "/v1/account/plan", true],
  ["/v1/account/plan", "GET", "/v1/account/plan", false],
  ["/v1/email/verify", "POST", "/v1/email/verify", false],
])("a lost change of %s is void after %s %s: %p", (held, method, path, isVoid) => {
  expect(isOvertaken(held, method, path)).toBe(isVoid);
});
