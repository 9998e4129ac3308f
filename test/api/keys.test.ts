import { beforeEach, describe, expect, test } from "bun:test";
import type { CreatedKey, KeyView } from "../../src/accounts/key-list.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { jsonOf, refusalBodyOf } from "../support/json.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

const START = Date.parse("2026-11-20T10:20:30Z");
const DAY_MS = 86_400_000;

let now = START;
let key: string;
const server = await startFileServer({ clock: { now: () => now, monotonic: systemClock.monotonic } });
beforeEach(async () => {
  now = START;
  key = await server.signUp("scale");
});

const KEYS = "/v1/account/keys";
const post = (path: string, body: unknown, withKey = key) => server.call(path, { key: withKey, body });
const remove = (keyId: string, withKey = key) =>
  server.call(`${KEYS}/${keyId}`, { key: withKey, method: "DELETE" });
const create = async (body: object = {}) => jsonOf<CreatedKey>(await post(KEYS, body));
const list = async (withKey = key) =>
  (await jsonOf<{ data: KeyView[] }>(await server.call(KEYS, { key: withKey }))).data;
const verify = (withKey: string) =>
  server.call("/v1/email/verify?email=a@good.com&dns=false", { key: withKey });

describe("GET /v1/account/keys", () => {
  test("lists the key of signup, which has every scope, with the hour of its last use", async () => {
    const [first, ...others] = await list();
    expect(others).toEqual([]);
    expect(first).toEqual({
      key_id: expect.stringMatching(/^key_[0-9A-Za-z]{20}$/),
      name: null,
      hint: `asy_…${key.slice(-4)}`,
      mode: "live",
      scopes: ["verify", "read", "account"],
      created_at: "2026-11-20T10:20:30Z",
      last_used_at: "2026-11-20T10:00:00Z",
      expires_at: null,
      rotates_at: null,
      revoked_at: null,
    });
  });

  test("an unused key has no last use; a revoked one is listed for 30 days", async () => {
    const { key_id } = await create({ name: "spare" });
    const uses = Object.fromEntries((await list()).map((entry) => [entry.name, entry.last_used_at]));
    expect(uses).toEqual({ null: "2026-11-20T10:00:00Z", spare: null });
    await remove(key_id);
    now += 30 * DAY_MS - 1;
    const revoked = (await list()).find((entry) => entry.key_id === key_id);
    expect(revoked?.revoked_at).toBe("2026-11-20T10:20:30Z");
    now += 1;
    expect((await list()).map((entry) => entry.key_id)).not.toContain(key_id);
  });

  test("shows no keys of other accounts", async () => {
    const other = await server.signUp("free");
    await create();
    expect(await list(other)).toHaveLength(1);
  });
});

describe("POST /v1/account/keys", () => {
  test("201 returns the entry and the key, which works and is shown this once", async () => {
    const reply = await post(KEYS, { name: "ci", scopes: ["verify"], expires_at: "2026-11-21T00:00:00Z" });
    expect(reply.status).toBe(201);
    const { api_key, ...entry } = await jsonOf<CreatedKey>(reply);
    expect(api_key).toMatch(/^asy_[0-9A-Za-z]{36}$/);
    expect(entry).toMatchObject({ name: "ci", scopes: ["verify"], expires_at: "2026-11-21T00:00:00Z" });
    expect((await list()).find(({ key_id }) => key_id === entry.key_id)).toEqual(entry);
    expect((await verify(api_key)).status).toBe(200);
    now = Date.parse("2026-11-21T00:00:00Z");
    expect(await refusalOf(await verify(api_key))).toBe("401 bad_key");
  });

  test.each([
    [{ expires_at: "2026-11-20T10:20:30Z" }],
    [{ expires_at: "soon" }],
    [{ expires_at: "2027-02-29" }],
    [{ expires_at: "2027-04-31T00:00:00Z" }],
    [{ expires_at: "2026-11-20T10:20:30.999Z" }],
    [{ expires_at: "9999-12-31T23:59:59-00:01" }],
    [{ expires_at: "2027-01-31-05:00" }],
    [{ scopes: [] }],
    [{ scopes: ["all"] }],
    [{ name: "x".repeat(101) }],
    [{ mode: "dead" }],
  ])("400 for %j", async (body) => {
    expect(await refusalOf(await post(KEYS, body))).toBe("400 invalid_request");
  });

  test.each([
    [{ scopes: ["all"] }, "scopes must be null or a list of one to three of verify, read, account."],
    [{ mode: "dead" }, "mode must be null, live or test."],
    [{ expires_at: 5 }, "expires_at must be null or a string of at most 40 characters."],
  ])("says what is wrong with %j", async (body, message) => {
    expect((await refusalBodyOf(await post(KEYS, body))).error.message).toBe(message);
  });

  test.each([
    ["2027-01-31", "2027-01-31T00:00:00Z"],
    ["2027-01-31T10:00", "2027-01-31T10:00:00Z"],
    ["2027-01-31T10:00:00", "2027-01-31T10:00:00Z"],
    ["2027-01-31T10:00:00-05:00", "2027-01-31T15:00:00Z"],
    ["2027-01-31T10:00:00-0500", "2027-01-31T15:00:00Z"],
  ])("an end without an offset is in UTC, whatever zone the machine is in: %s", async (expires_at, end) => {
    const zone = process.env.TZ;
    process.env.TZ = "America/New_York";
    const created = await create({ expires_at }).finally(() => {
      process.env.TZ = zone ?? "UTC";
    });
    expect(created.expires_at).toBe(end);
  });

  test("a key works to the second that its end is announced at, and no longer", async () => {
    const passing = await create({ expires_at: "2026-11-20T10:20:31.999Z" });
    expect(passing.expires_at).toBe("2026-11-20T10:20:31Z");
    now = Date.parse("2026-11-20T10:20:31Z") - 1;
    expect((await verify(passing.api_key)).status).toBe(200);
    now += 1;
    expect(await refusalOf(await verify(passing.api_key))).toBe("401 bad_key");
  });

  test("400 for the 101st key that works; a deleted one makes room", async () => {
    const { key_id } = await create();
    for (let count = 2; count < 100; count += 1) await create();
    const { message } = (await refusalBodyOf(await post(KEYS, {}))).error;
    expect(message).toContain("100 keys");
    expect((await remove(key_id)).status).toBe(204);
    expect((await post(KEYS, {})).status).toBe(201);
  });

  test("with an Idempotency-Key makes one key, and shows it again", async () => {
    const options = { key, body: { name: "once" }, headers: { "Idempotency-Key": "k" } };
    const first = await jsonOf<CreatedKey>(await server.call(KEYS, options));
    expect(await jsonOf<CreatedKey>(await server.call(KEYS, options))).toEqual(first);
    expect(await list()).toHaveLength(2);
  });
});

describe("scopes", () => {
  const CALLS: readonly [scope: string, method: string, path: string, body?: object][] = [
    ["verify", "GET", "/v1/email/verify?email=a@good.com&dns=false"],
    ["verify", "POST", "/v1/email/batch", { emails: [] }],
    ["verify", "POST", "/v1/identity/validate", { type: "cpf", value: "1" }],
    ["verify", "GET", "/v1/phone/validate?phone=1"],
    ["read", "GET", "/v1/account"],
    ["read", "GET", "/v1/account/usage"],
    ["read", "GET", "/v1/account/invoices"],
    ["read or verify", "GET", "/v1/jobs"],
    ["read or verify", "GET", "/v1/jobs/job_none"],
    ["verify", "GET", "/v1/jobs/job_none/results"],
    ["verify", "POST", "/v1/jobs/job_none/cancel"],
    ["account", "GET", KEYS],
    ["account", "POST", KEYS, {}],
    ["account", "POST", "/v1/account/plan", { plan: "scale" }],
    ["account", "POST", "/v1/account/keys/rotate", {}],
    ["account", "DELETE", `${KEYS}/key_none`],
  ];

  for (const scope of ["verify", "read", "account"]) {
    test(`a key with the scope ${scope} makes the calls that it allows; others are 403, before the body`, async () => {
      for (const [needed, method, path, body] of CALLS) {
        const { api_key } = await create({ scopes: [scope] });
        const options = { key: api_key, method, ...(body === undefined ? {} : { body }) };
        const reply = await server.call(path, options);
        if (needed.split(" or ").includes(scope) || scope === "account") {
          expect([path, reply.status === 403]).toEqual([path, false]);
          await reply.arrayBuffer();
        } else {
          const { error } = await refusalBodyOf(reply);
          expect([path, reply.status, error.code]).toEqual([path, 403, "forbidden"]);
          expect(error.message).toContain(`the scope ${needed}`);
        }
      }
    });
  }
});

describe("rotation and deletion", () => {
  test("a rotated key keeps name and scopes, and no other key ends", async () => {
    const old = await create({ name: "ci", scopes: ["verify"] });
    const reply = await post(`${KEYS}/${old.key_id}/rotate`, { overlap_seconds: 60 });
    expect(reply.status).toBe(201);
    const rotated = await jsonOf<{ api_key: string; old_key_expires_at: string }>(reply);
    expect(rotated.old_key_expires_at).toBe("2026-11-20T10:21:30Z");
    const entries = await list();
    expect(entries.map(({ name, scopes, rotates_at }) => [name, scopes.length, rotates_at])).toEqual(
      expect.arrayContaining([
        [null, 3, null],
        ["ci", 1, "2026-11-20T10:21:30Z"],
        ["ci", 1, null],
      ]),
    );
    for (const working of [old.api_key, rotated.api_key]) expect((await verify(working)).status).toBe(200);
    now += 60_000;
    expect(await refusalOf(await verify(old.api_key))).toBe("401 bad_key");
    expect((await verify(rotated.api_key)).status).toBe(200);
    expect((await verify(key)).status).toBe(200);
  });

  test("the calling key is rotated alone by /v1/account/keys/rotate", async () => {
    const other = await create();
    await post(`${KEYS}/rotate`, {});
    expect(await refusalOf(await verify(key))).toBe("401 bad_key");
    expect((await verify(other.api_key)).status).toBe(200);
  });

  test("a key that is rotated without an overlap has ended for good, also where the clock is set back", async () => {
    const headers = { "Idempotency-Key": "rotation" };
    const rotate = () => server.call(`${KEYS}/rotate`, { key, body: {}, headers });
    const rotated = await jsonOf<{ api_key: string }>(await rotate());
    now -= 3_600_000;
    expect(await refusalOf(await verify(key))).toBe("401 bad_key");
    expect(await jsonOf<{ api_key: string }>(await rotate())).toEqual(rotated);
    const old = (await list(rotated.api_key)).find(({ rotates_at }) => rotates_at !== null);
    expect(old).toMatchObject({ rotates_at: "2026-11-20T10:20:30Z", revoked_at: "2026-11-20T10:20:30Z" });
    expect(await refusalOf(await remove(old?.key_id ?? "", rotated.api_key))).toBe("404 not_found");
  });

  test("a key that is deleted within its overlap shows no reply of its rotation", async () => {
    const headers = { "Idempotency-Key": "rotation" };
    const rotate = () => server.call(`${KEYS}/rotate`, { key, body: { overlap_seconds: 60 }, headers });
    const rotated = await jsonOf<{ api_key: string }>(await rotate());
    const old = (await list()).find(({ rotates_at }) => rotates_at !== null);
    expect((await remove(old?.key_id ?? "", rotated.api_key)).status).toBe(204);
    expect(await refusalOf(await rotate())).toBe("401 bad_key");
  });

  test("204 refuses the key at once; the last key with the scope account stays, with 400", async () => {
    const [first] = await list();
    const other = await create({ scopes: ["verify", "read"] });
    expect(await refusalOf(await remove(first?.key_id ?? ""))).toBe("400 invalid_request");
    expect((await verify(other.api_key)).status).toBe(200);
    expect((await remove(other.key_id)).status).toBe(204);
    expect(await refusalOf(await verify(other.api_key))).toBe("401 bad_key");
    expect((await verify(key)).status).toBe(200);
  });

  test("400 for an invalid overlap", async () => {
    const { key_id } = await create();
    for (const overlap_seconds of [-1, 2_592_001, "60"]) {
      expect([
        overlap_seconds,
        await refusalOf(await post(`${KEYS}/${key_id}/rotate`, { overlap_seconds })),
      ]).toEqual([overlap_seconds, "400 invalid_request"]);
    }
  });

  test("a key ends at its time, or when it is deleted; jobs that were created with it continue", async () => {
    const passing = await create({ expires_at: new Date(START + 1_000).toISOString() });
    const deleted = await create({ scopes: ["verify"] });
    const body = Array.from({ length: 5_000 }, (_, row) => `a${row}@good.com`).join("\n");
    const headers = { "Content-Type": "text/plain" };
    const begun = await server.call("/v1/jobs", { key: deleted.api_key, body, headers });
    const { job_id: jobId } = await jsonOf<{ job_id: string }>(begun);
    expect((await remove(deleted.key_id)).status).toBe(204);
    for (const path of ["", "/results", "/events"]) {
      const reply = await server.call(`/v1/jobs/${jobId}${path}`, { key: deleted.api_key });
      expect([path, await refusalOf(reply)]).toEqual([path, "401 bad_key"]);
    }
    const events = await (await server.call(`/v1/jobs/${jobId}/events`, { key })).text();
    expect(events).toContain('"status":"completed"');
    expect((await verify(passing.api_key)).status).toBe(200);
    now += 1_000;
    expect(await refusalOf(await verify(passing.api_key))).toBe("401 bad_key");
  });

  test("404 for unknown keys, ended ones, and those of another account", async () => {
    const other = await server.signUp("free");
    const [theirs] = await list(other);
    const ended = await create();
    await remove(ended.key_id);
    for (const keyId of ["key_none", theirs?.key_id ?? "", ended.key_id]) {
      expect(await refusalOf(await remove(keyId))).toBe("404 not_found");
      expect(await refusalOf(await post(`${KEYS}/${keyId}/rotate`, {}))).toBe("404 not_found");
    }
    expect((await verify(other)).status).toBe(200);
  });
});
