import { beforeEach, describe, expect, test } from "bun:test";
import type { InvoicePage } from "../../src/accounts/invoice-list.ts";
import type { UsageView } from "../../src/accounts/usage-report.ts";
import { confirmClock } from "../../src/billing/billing-clock.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { accountOf, jsonOf, keyOf, refusalBodyOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";

const START = Date.parse("2026-11-20T10:00:00Z");
const DAY_MS = 86_400_000;

let now = START;
let key: string;
const server = await startFileServer({ clock: { now: () => now, monotonic: systemClock.monotonic } });
beforeEach(async () => {
  key = await server.signUp("growth");
});

const verify = (withKey = key) =>
  server.call("/v1/email/verify?email=a@good.com&dns=false", { key: withKey });
const account = async (withKey = key) => accountOf(await server.call("/v1/account", { key: withKey }));
const post = (path: string, body: unknown, headers = {}) => server.call(path, { key, body, headers });

describe("GET /v1/account", () => {
  describe("200", () => {
    test("returns the account, its month, its limits and the projected cost", async () => {
      await verify();
      const body = await account();
      expect(body).toMatchObject({
        name: null,
        company: null,
        country: null,
        plan: "growth",
        pending_plan: null,
        created_at: "2026-11-20T10:00:00Z",
        period: { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" },
        usage: { units: 1, included_units: 88_195, remaining_units: null, calls: 1 },
        limits: { requests_per_second: 200, burst: 400, max_batch_size: 10_000 },
        spend_limit_usd: null,
        projected_invoice: { status: "projected", plan: "growth" },
      });
      expect(body.usage.by_endpoint).toEqual([{ endpoint: "/v1/email/verify", calls: 1, units: 1 }]);
    });

    test("counts its own calls, which cost nothing", async () => {
      const reply = await server.call("/v1/account", { key });
      expect(reply.headers.get("x-units-charged")).toBe("0");
      expect(reply.headers.get("x-units-remaining")).toBeNull();
      const { usage } = await account();
      expect(usage).toMatchObject({ units: 0, calls: 1 });
    });

    test("the free plan reports the units left before its hard stop", async () => {
      const free = await server.signUp("free");
      const reply = await verify(free);
      expect(reply.headers.get("x-units-remaining")).toBe("999");
      expect((await account(free)).usage.remaining_units).toBe(999);
    });
  });

  test("401 without a key", async () => {
    expect(await refusalOf(await server.call("/v1/account"))).toBe("401 missing_key");
    expect(await refusalOf(await server.call(`/v1/account?api_key=${key}`))).toBe("401 missing_key");
  });
});

describe("POST /v1/account/plan", () => {
  const change = (body: unknown, headers = {}) => post("/v1/account/plan", body, headers);

  describe("200", () => {
    test("an upgrade holds at once, also for the limits of the next call", async () => {
      const body = await accountOf(await change({ plan: "scale" }));
      expect(body).toMatchObject({ plan: "scale", limits: { requests_per_second: 1000 } });
      expect((await verify()).headers.get("ratelimit-policy")).toStartWith('"burst";q=2000');
    });

    test("a downgrade waits for the month's end, and is withdrawn by asking for the present plan", async () => {
      expect(await accountOf(await change({ plan: "free" }))).toMatchObject({
        plan: "growth",
        pending_plan: "free",
      });
      expect((await accountOf(await change({ plan: "growth" }))).pending_plan).toBeNull();
    });

    test("a spend limit is set, kept and lifted", async () => {
      expect(
        (await accountOf(await change({ plan: "growth", spend_limit_usd: "200" }))).spend_limit_usd,
      ).toBe("200.00");
      expect((await accountOf(await change({ plan: "growth" }))).spend_limit_usd).toBe("200.00");
      const lifted = await change({ plan: "growth", spend_limit_usd: null });
      expect((await accountOf(lifted)).spend_limit_usd).toBeNull();
    });

    test("with an Idempotency-Key the change is made once and the reply replayed", async () => {
      const headers = { "Idempotency-Key": "change-1" };
      const first = await change({ plan: "scale" }, headers);
      const again = await change({ plan: "scale" }, headers);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await again.text()).toBe(await first.text());
    });
  });

  describe("400", () => {
    test.each([
      ["no plan", {}, "plan is required."],
      ["no such plan", { plan: "__proto__" }, "plan must be one of free, starter, growth, scale."],
      [
        "a negative limit",
        { plan: "free", spend_limit_usd: "-1" },
        'spend_limit_usd must be null or an amount such as "250.00".',
      ],
      [
        "a limit that is a number",
        { plan: "free", spend_limit_usd: 5 },
        'spend_limit_usd must be null or an amount such as "250.00".',
      ],
    ])("%s", async (_, body, message) => {
      expect((await refusalBodyOf(await change(body))).error).toEqual({ code: "invalid_request", message });
    });

    test("broken JSON", async () => {
      expect(await refusalOf(await change("{"))).toBe("400 invalid_json");
    });
  });

  test("401 before the body is read", async () => {
    expect(await refusalOf(await server.call("/v1/account/plan", { body: "{" }))).toBe("401 missing_key");
  });

  test("415 for a body of another type", async () => {
    const reply = await change("plan=scale", { "Content-Type": "text/plain" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });

  test("422 where an Idempotency-Key comes with another body", async () => {
    const headers = { "Idempotency-Key": '"change-2"' };
    await change({ plan: "scale" }, headers);
    expect(await refusalOf(await change({ plan: "growth" }, headers))).toBe("422 idempotency_mismatch");
    expect((await account()).plan).toBe("scale");
  });

  test.each([
    ["another path", "/v1/account/keys/rotate", { plan: "scale" }],
    ["another query", "/v1/account/plan?x=1", { plan: "scale" }],
    ["another body", "/v1/account/plan", { plan: "growth" }],
  ])("422 says that the Idempotency-Key was used with %s", async (what, path, body) => {
    const headers = { "Idempotency-Key": "change-3" };
    await change({ plan: "scale" }, headers);
    const { error } = await refusalBodyOf(await post(path, body, headers));
    expect(error).toEqual({
      code: "idempotency_mismatch",
      message: `This Idempotency-Key was used with ${what}.`,
    });
  });
});

describe("GET /v1/account/usage", () => {
  const usage = (query: string) => server.call(`/v1/account/usage${query}`, { key });

  describe("200", () => {
    test("by day and by endpoint give the same sums", async () => {
      await verify();
      now = START + DAY_MS;
      await verify();
      await server.call("/v1/phone/validate?phone=1", { key });
      const days = await jsonOf<UsageView>(await usage("?from=2026-11-01&to=2026-11-30&group_by=day"));
      now = START;
      expect(days).toMatchObject({ from: "2026-11-01", to: "2026-11-30", group_by: "day" });
      expect(days.rows).toEqual([
        { day: "2026-11-20", calls: 1, units: 1 },
        { day: "2026-11-21", calls: 2, units: 2 },
      ]);
      const endpoints = await jsonOf<UsageView>(await usage("?to=2026-11-30&group_by=endpoint"));
      const paid = endpoints.rows.filter(({ units }) => units > 0);
      expect(paid).toEqual([
        { endpoint: "/v1/email/verify", calls: 2, units: 2 },
        { endpoint: "/v1/phone/validate", calls: 1, units: 1 },
      ]);
    });

    test("shows no usage of other accounts", async () => {
      await verify(await server.signUp());
      expect((await jsonOf<UsageView>(await usage(""))).rows).toEqual([]);
    });
  });

  describe("400", () => {
    test.each([
      "?from=2026-02-30",
      "?to=9999-12-31T23:59:59-14:00",
      "?from=0000-01-01T00:00:00%2B14:00&to=0000-01-01",
      "?from=yesterday",
      "?from=2026-11-02&to=2026-11-01",
      "?from=2020-01-01&to=2026-01-01",
      "?group_by=hour",
      `?from=${"1".repeat(500)}`,
    ])("%s", async (query) => {
      expect(await refusalOf(await usage(query))).toBe("400 invalid_request");
    });
  });

  test("401 without a key", async () => {
    expect(await refusalOf(await server.call("/v1/account/usage"))).toBe("401 missing_key");
  });
});

describe("GET /v1/account/invoices", () => {
  const invoices = (query = "", withKey = key) =>
    server.call(`/v1/account/invoices${query}`, { key: withKey });

  describe("200", () => {
    test("a new account has none", async () => {
      expect(await jsonOf<InvoicePage>(await invoices())).toEqual({
        data: [],
        has_more: false,
        next_cursor: null,
      });
    });

    test("pages contain every month once, newest first", async () => {
      using folder = temporaryFolder("invoices");
      const clockOf = (day: string) => ({
        now: () => Date.parse(`${day}T00:00:00Z`),
        monotonic: systemClock.monotonic,
      });
      const startAt = (day: string) => startTestServer({ dataDir: folder.path, clock: clockOf(day) });
      const first = await startAt("2026-11-20");
      const old = await first.signUp("starter");
      await first[Symbol.asyncDispose]();
      // After ten weeks the clock is in doubt until the operator confirms it.
      const clock = clockOf("2027-02-02");
      const store = openStore({ dataDir: folder.path, clock });
      confirmClock(store, clock.now());
      store.close();
      // Months that ended while the server was down are billed when it starts.
      await using later = await startAt("2027-02-02");
      const list = (query: string) => later.call(`/v1/account/invoices${query}`, { key: old });
      const page = await jsonOf<InvoicePage>(await list("?limit=2"));
      expect(page.data.map(({ period_start }) => period_start.slice(0, 7))).toEqual(["2027-01", "2026-12"]);
      expect(page.has_more).toBe(true);
      const rest = await jsonOf<InvoicePage>(await list(`?limit=2&starting_after=${page.next_cursor}`));
      expect(rest.data.map(({ period_start }) => period_start.slice(0, 7))).toEqual(["2026-11"]);
      expect(rest).toMatchObject({ has_more: false, next_cursor: null });
      expect(page.data[0]).toMatchObject({ status: "issued", plan: "starter", total_usd: "29.00" });
    });
  });

  describe("400", () => {
    test.each(["?limit=0", "?limit=101", "?limit=1.5", "?limit=ten", "?starting_after=inv_none"])(
      "%s",
      async (query) => {
        expect(await refusalOf(await invoices(query))).toBe("400 invalid_request");
      },
    );
  });

  test("401 without a key", async () => {
    expect(await refusalOf(await server.call("/v1/account/invoices"))).toBe("401 missing_key");
  });
});

describe("POST /v1/account/keys/rotate", () => {
  const rotate = (body: unknown, headers = {}) => post("/v1/account/keys/rotate", body, headers);

  describe("201", () => {
    test("the new key is accepted and the old one refused at once", async () => {
      const reply = await rotate({});
      expect(reply.status).toBe(201);
      const newKey = await keyOf(reply);
      expect(newKey).not.toBe(key);
      expect(await refusalOf(await server.call("/v1/account", { key }))).toBe("401 bad_key");
      expect((await account(newKey)).plan).toBe("growth");
    });

    test("with an overlap both are accepted until it ends", async () => {
      const reply = await rotate({ overlap_seconds: 60 });
      const body = await jsonOf<{ api_key: string; old_key_expires_at: string }>(reply);
      expect(body.old_key_expires_at).toBe("2026-11-20T10:01:00Z");
      expect((await server.call("/v1/account", { key })).status).toBe(200);
      now = START + 61_000;
      expect(await refusalOf(await server.call("/v1/account", { key }))).toBe("401 bad_key");
      expect((await server.call("/v1/account", { key: body.api_key })).status).toBe(200);
      now = START;
    });

    test("a missing body is an empty one", async () => {
      expect((await rotate("")).status).toBe(201);
    });

    test("with an Idempotency-Key the same new key is shown again", async () => {
      const headers = { "Idempotency-Key": "rotate-1" };
      const first = await rotate({ overlap_seconds: 60 }, headers);
      const again = await rotate({ overlap_seconds: 60 }, headers);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await keyOf(again)).toBe(await keyOf(first));
    });

    test("a lost reply is replayed to the key that it ended, which is refused everything else", async () => {
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      const first = await rotate({}, headers);
      const newKey = await keyOf(first);
      const again = await rotate({}, headers);
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
      expect(again.headers.get("ratelimit-policy")).toBe(first.headers.get("ratelimit-policy"));
      expect(await keyOf(again)).toBe(newKey);
      expect((await server.call("/v1/account", { key: newKey })).status).toBe(200);

      const refusals = [
        rotate({}),
        rotate({}, { "Idempotency-Key": "another" }),
        rotate({}, { "Idempotency-Key": "" }),
        rotate({ overlap_seconds: 0 }, headers),
        rotate("no json", { ...headers, "Content-Type": "text/plain" }),
        rotate("x".repeat(200_000), headers),
        post("/v1/account/plan", { plan: "scale" }, headers),
        post("/v1/email/verify", { email: "a@good.com" }, headers),
        server.call("/v1/account", { key, headers }),
      ];
      for (const reply of refusals) expect(await refusalOf(await reply)).toBe("401 bad_key");
      now = START + 15 * 60_000 + 1000;
      expect(await refusalOf(await rotate({}, headers))).toBe("401 bad_key");
      now = START;
    });

    test("guessing the Idempotency-Key with an ended key is rate limited", async () => {
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      await rotate({}, headers);
      for (let count = 0; count < 20; count += 1) {
        expect(await refusalOf(await rotate({}, { "Idempotency-Key": `${count}` }))).toBe("401 bad_key");
      }
      expect(await refusalOf(await rotate({}, headers))).toBe("401 bad_key");
    });
  });

  test.each([{ overlap_seconds: -1 }, { overlap_seconds: 2_592_001 }, { overlap_seconds: "60" }])(
    "400 %j",
    async (body) => {
      expect(await refusalOf(await rotate(body))).toBe("400 invalid_request");
      expect((await server.call("/v1/account", { key })).status).toBe(200);
    },
  );

  test("401 without a key", async () => {
    const reply = await server.call("/v1/account/keys/rotate", { body: {} });
    expect(await refusalOf(reply)).toBe("401 missing_key");
  });
});

describe("an Idempotency-Key", () => {
  test.each([
    ["empty", ""],
    ["too long", "x".repeat(256)],
  ])("400 where it is %s", async (_, header) => {
    const headers = { "Idempotency-Key": header };
    const reply = await post("/v1/account/plan", { plan: "scale" }, headers);
    expect(await refusalOf(reply)).toBe("400 invalid_request");
  });

  test("of one account does not affect another's", async () => {
    const headers = { "Idempotency-Key": "shared" };
    await post("/v1/account/plan", { plan: "scale" }, headers);
    const other = await server.signUp("growth");
    const reply = await server.call("/v1/account/plan", { key: other, body: { plan: "scale" }, headers });
    expect(reply.headers.get("idempotent-replayed")).toBeNull();
    expect(reply.status).toBe(200);
  });
});
