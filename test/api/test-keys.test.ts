import { afterAll, beforeAll, expect, test } from "bun:test";
import { EMAIL_SUB_STATUSES } from "../../src/contract/words.ts";
import { TEST_ADDRESSES } from "../../src/test-keys/test-addresses.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

type Result = { readonly email: string; readonly sub_status: string };
type Job = { readonly job_id: string; readonly status: string; readonly units_charged: number };
type Account = { readonly usage: { readonly units: number; readonly by_endpoint: readonly object[] } };

async function keysOf(scopes?: readonly string[]): Promise<{ live: string; test: string }> {
  const live = await server.signUp("free");
  const reply = await server.call("/v1/account/keys", { key: live, body: { mode: "test", scopes } });
  expect(reply.status).toBe(201);
  const made = await jsonOf<{ api_key: string; mode: string; hint: string }>(reply);
  expect(made.api_key).toMatch(/^asy_test_[0-9A-Za-z]{36}$/);
  expect(made).toMatchObject({ mode: "test", hint: `asy_test_…${made.api_key.slice(-4)}` });
  return { live, test: made.api_key };
}

const single = async (key: string, email: string) =>
  jsonOf<Result>(await server.call(`/v1/email/verify?email=${encodeURIComponent(email)}`, { key }));
const usageOf = async (key: string) =>
  (await jsonOf<Account>(await server.call("/v1/account", { key }))).usage;

test("there is an address for each sub_status, which checks, batches and jobs return", async () => {
  expect(TEST_ADDRESSES.map(({ subStatus }) => subStatus).toSorted()).toEqual(
    [...EMAIL_SUB_STATUSES].toSorted(),
  );
  const { test: key, live } = await keysOf();
  const emails = TEST_ADDRESSES.map(({ address }) => address);
  const expected = TEST_ADDRESSES.map(({ address, subStatus }) => [address, subStatus]);
  const pairs = (results: readonly Result[]) => results.map(({ email, sub_status }) => [email, sub_status]);
  const batch = await jsonOf<{ results: Result[]; summary: { units_charged: number } }>(
    await server.call("/v1/email/batch", { key, body: { emails } }),
  );
  expect(pairs(batch.results)).toEqual(expected as never);
  expect(batch.summary.units_charged).toBe(0);
  const singles: Result[] = [];
  // The free plan's rate holds for test keys: 10 a second.
  for (const email of emails.slice(0, 12)) singles.push(await single(key, email));
  expect(pairs(singles)).toEqual(expected.slice(0, 12) as never);
  const created = await server.call("/v1/jobs", { key: live, body: "x@good.com\n", headers: TEXT });
  expect(created.status).toBe(202);
  const { key: other } = { key: (await keysOf()).test };
  const job = await jsonOf<Job>(await server.call("/v1/jobs", { key: other, body: { items: emails } }));
  const events = await (await server.call(`/v1/jobs/${job.job_id}/events`, { key: other })).text();
  expect(events).toContain('"status":"completed","status_reason":null');
  expect(events).toContain('"units_charged":0');
  const own = await jsonOf<{ results: Result[] }>(
    await server.call(`/v1/jobs/${job.job_id}/results?format=json`, { key: other }),
  );
  expect(pairs(own.results)).toEqual(expected as never);
  expect(server.logged().filter(({ event }) => event === "bug")).toEqual([]);
});

const TEXT = { "Content-Type": "text/plain" };

test("the sub_status of a failed check is returned by single checks, too", async () => {
  const { test: key } = await keysOf();
  for (const { address, subStatus } of TEST_ADDRESSES.slice(12)) {
    expect(await single(key, address)).toMatchObject({ email: address, sub_status: subStatus });
  }
});

test("calls with a test key are free, are not counted and cause no real look-up", async () => {
  const { live, test: key } = await keysOf();
  const before = await usageOf(live);
  server.dns.resetCounts();
  const reply = await server.call("/v1/email/verify?email=jane@many.com", { key });
  expect(reply.headers.get("x-units-charged")).toBe("0");
  expect(reply.headers.get("ratelimit-policy")).toContain('"burst";q=20');
  await server.call("/v1/phone/validate?phone=%2B14155552671", { key });
  await server.call("/v1/identity/validate?type=cpf&value=52998224725", { key });
  const rows = Array.from({ length: 1_000 }, (_, at) => `p${at}@team${at % 9}.customers.net`).join("\n");
  const job = await jsonOf<Job>(await server.call("/v1/jobs", { key, body: rows, headers: TEXT }));
  await (await server.call(`/v1/jobs/${job.job_id}/events`, { key })).text();
  expect(server.dns.queryCount()).toBe(0);
  const after = await usageOf(live);
  expect(after.units).toBe(before.units);
  expect(after.by_endpoint.filter((row) => !JSON.stringify(row).includes("/v1/account"))).toEqual([]);
  const more = await server.call("/v1/jobs", { key, body: `${rows}\none@more.com`, headers: TEXT });
  expect([more.status, await more.text()]).toEqual([400, expect.stringContaining("1001")]);
});

test("a test key sees nothing of the account, and the account nothing of it", async () => {
  const { live, test: key } = await keysOf();
  const make = (of: string, idempotencyKey: string) =>
    server.call("/v1/jobs", {
      key: of,
      body: "ana.silva@northwind-paper.com\n",
      headers: { ...TEXT, "Idempotency-Key": idempotencyKey },
    });
  const liveJob = await jsonOf<Job>(await make(live, "same"));
  const testJob = await jsonOf<Job>(await make(key, "same"));
  expect(testJob.job_id).not.toBe(liveJob.job_id);
  const idsOf = async (of: string) =>
    (await jsonOf<{ data: Job[] }>(await server.call("/v1/jobs", { key: of }))).data.map(
      ({ job_id }) => job_id,
    );
  expect([await idsOf(live), await idsOf(key)]).toEqual([[liveJob.job_id], [testJob.job_id]]);
  for (const [of, { job_id }] of [
    [live, testJob],
    [key, liveJob],
  ] as const) {
    for (const path of ["", "/results", "/events"]) {
      expect(await refusalOf(await server.call(`/v1/jobs/${job_id}${path}`, { key: of }))).toBe(
        "404 not_found",
      );
    }
  }
  const paths = [
    "/v1/account",
    "/v1/account/keys",
    "/v1/account/usage",
    "/v1/account/invoices",
    "/v1/webhooks",
  ];
  for (const path of paths) {
    expect([path, await refusalOf(await server.call(path, { key }))]).toEqual([path, "403 forbidden"]);
  }
  const changes: readonly (readonly [string, object])[] = [
    ["/v1/account/plan", { plan: "scale" }],
    ["/v1/account/keys", {}],
    ["/v1/account/keys/rotate", {}],
    ["/v1/webhooks", { url: "https://hooks.example.com/" }],
  ];
  for (const [path, body] of changes) {
    expect([path, await refusalOf(await server.call(path, { key, body }))]).toEqual([path, "403 forbidden"]);
  }
});

test("a webhook_url is refused to a test key, whose jobs call none, whatever webhooks the account has", async () => {
  const { live, test: key } = await keysOf();
  const url = "https://hooks.northwind-paper.com/";
  expect((await server.call("/v1/webhooks", { key: live, body: { url } })).status).toBe(201);
  const reply = await server.call("/v1/jobs", { key, body: { items: ["a@gmail.com"], webhook_url: url } });
  expect([reply.status, await reply.text()]).toEqual([
    400,
    expect.stringContaining("webhook_url: jobs of a test key call no webhook."),
  ]);
});

test("a test key has its scopes, is listed, rotated into a test key, and deleted at once", async () => {
  const { live, test: key } = await keysOf(["verify"]);
  const list = await jsonOf<{ data: { key_id: string; mode: string }[] }>(
    await server.call("/v1/account/keys", { key: live }),
  );
  expect(list.data.map(({ mode }) => mode)).toEqual(["live", "test"]);
  const id = list.data[1]?.key_id ?? "";
  const rotated = await jsonOf<{ api_key: string }>(
    await server.call(`/v1/account/keys/${id}/rotate`, { key: live, body: {} }),
  );
  expect(rotated.api_key).toMatch(/^asy_test_/);
  const check = (of: string) => server.call("/v1/email/verify?email=a@gmail.com", { key: of });
  expect(await refusalOf(await check(key))).toBe("401 bad_key");
  expect((await check(rotated.api_key)).status).toBe(200);
  const mistyped = rotated.api_key.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
  expect(await refusalOf(await check(mistyped))).toBe("401 bad_key");
  const now = await jsonOf<{ data: { key_id: string; mode: string; revoked_at: string | null }[] }>(
    await server.call("/v1/account/keys", { key: live }),
  );
  // A test key does not stand in for the last one that opens the account.
  const liveId = now.data.find(({ mode }) => mode === "live")?.key_id;
  const last = await server.call(`/v1/account/keys/${liveId}`, { key: live, method: "DELETE" });
  expect(await refusalOf(last)).toBe("400 invalid_request");
});
