import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeApiKey, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { DEFAULT_PLANS, plansView } from "../../src/billing/plans.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { quickestWaitMs } from "../support/duration.ts";
import { accountOf, emailOf, refusalBodyOf } from "../support/json.ts";
import { EMAIL_FIELDS } from "../support/result-fields.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";

/** An account made as its month begins has the whole month's quota. */
const monthStart = Date.parse("2026-11-01T00:00:00Z");
const server = await startFileServer({
  clock: { now: () => monthStart, monotonic: systemClock.monotonic },
});
const key = await server.signUp();

const verify = (query: string) => server.call(`/v1/email/verify?${query}`, { key });

describe("200", () => {
  test("returns every field of the contract, and the cost", async () => {
    const reply = await verify("email=jane.doe@good.com");
    expect(reply.status).toBe(200);
    const result = await emailOf(reply);
    expect(Object.keys(result)).toEqual(EMAIL_FIELDS);
    expect(result).toMatchObject({
      status: "deliverable",
      sub_status: "accepts_mail",
      mx_hosts: ["mx.good.com"],
    });
    expect(result.score).toBeWithin(80, 101);
    expect(reply.headers.get("x-units-charged")).toBe("1");
    expect(reply.headers.get("x-request-id")).toStartWith("req_");
    expect(reply.headers.get("ratelimit-policy")).toBe('"burst";q=2000;w=2, "month";q=2500000;qu="units"');
    expect(reply.headers.get("ratelimit")).toMatch(/^"burst";r=\d+;t=\d+, "month";r=\d+;t=\d+$/);
  });

  test("POST returns what GET returns", async () => {
    const email = "info@good.com";
    const posted = await server.call("/v1/email/verify", { key, body: { email, deep: true } });
    const got = await verify(`email=${email}&deep=1`);
    expect(posted.headers.get("x-units-charged")).toBe("2");
    expect(await emailOf(posted)).toEqual(await emailOf(got));
  });

  test("a plus that arrived as a space is read as a plus", async () => {
    const { email, normalized } = await emailOf(await verify("email=jane.doe+news@gmail.com"));
    expect({ email, normalized }).toEqual({
      email: "jane.doe+news@gmail.com",
      normalized: "janedoe@gmail.com",
    });
  });

  test("flags are true, false, 1 or 0 in any case", async () => {
    for (const flag of ["true", "TRUE", "1"]) {
      expect((await verify(`email=a@good.com&deep=${flag}`)).headers.get("x-units-charged")).toBe("2");
    }
    expect((await emailOf(await verify("email=a@good.com&dns=False"))).sub_status).toBe("dns_not_checked");
  });

  test("a look-up that fails is unknown and costs nothing", async () => {
    const reply = await verify("email=a@servfail.com");
    expect(await emailOf(reply)).toMatchObject({ status: "unknown", sub_status: "dns_error" });
    expect(reply.headers.get("x-units-charged")).toBe("0");
  });

  test.each([
    ["lone surrogate", "a\ud800b@good.com"],
    ["NUL", "a\0b@good.com"],
    ["a page of text", "x".repeat(60_000)],
    ["nothing", ""],
    ["a prototype's key", "__proto__"],
  ])("%s is judged as an address: undeliverable", async (_, email) => {
    const reply = await server.call("/v1/email/verify", { key, body: { email } });
    expect(await emailOf(reply)).toMatchObject({ email, status: "undeliverable", normalized: "" });
  });
});

describe("400", () => {
  test.each([
    ["no address", "", "email is required."],
    ["an invalid flag", "email=a@good.com&deep=yes", "deep must be true, false, 1 or 0."],
  ])("%s", async (_, query, message) => {
    const reply = await verify(query);
    expect((await refusalBodyOf(reply)).error).toEqual({ code: "invalid_request", message });
  });

  test.each([
    ["broken JSON", '{"email":', "400 invalid_json"],
    ["JSON that is no object", "[]", "400 invalid_request"],
    ["a number for an address", '{"email":7}', "400 invalid_request"],
    ["a word for a flag", '{"email":"a@good.com","deep":"true"}', "400 invalid_request"],
    ["a body over the limit", JSON.stringify({ email: "x".repeat(1_000_000) }), "413 payload_too_large"],
  ])("%s", async (_, body, refusal) => {
    const refuse = async () => {
      const reply = await server.call("/v1/email/verify", { key, body });
      expect(await refusalOf(reply)).toBe(refusal);
      expect(reply.headers.get("x-units-charged")).toBe("0");
    };
    expect(await quickestWaitMs(refuse, 50)).toBeLessThan(50);
  });

  test("a body of another type is 415", async () => {
    const reply = await server.call("/v1/email/verify", {
      key,
      body: "email=a@good.com",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});

describe("401", () => {
  test.each([
    ["no key", {}, "401 missing_key"],
    ["another scheme", { Authorization: "Basic abc" }, "401 missing_key"],
    ["a mistyped key", { Authorization: `Bearer asy_${"x".repeat(36)}` }, "401 bad_key"],
    ["an unknown key", { Authorization: `Bearer ${makeApiKey(systemRandomBytes)}` }, "401 bad_key"],
  ])("%s", async (_, headers, refusal) => {
    const reply = await server.call("/v1/email/verify?email=a@good.com", { headers });
    expect(await refusalOf(reply)).toBe(refusal);
    expect(reply.headers.get("www-authenticate")).toStartWith("Bearer");
    expect(reply.headers.get("x-units-charged")).toBeNull();
  });

  test("the scheme is read in any case", async () => {
    const reply = await server.call("/v1/email/verify?email=a@good.com", {
      headers: { Authorization: `bEARER ${key}` },
    });
    expect(reply.status).toBe(200);
  });

  test("a key in the query is no key", async () => {
    const reply = await server.call(`/v1/email/verify?email=a@good.com&access_token=${key}&api_key=${key}`);
    expect(await refusalOf(reply)).toBe("401 missing_key");
  });

  test("a key in the body is no key", async () => {
    const body = { email: "a@good.com", access_token: key };
    expect(await refusalOf(await server.call("/v1/email/verify", { body }))).toBe("401 missing_key");
  });

  test("an unauthenticated call is refused before the body is read, and before it is validated", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve) => {
      socket.once("data", (data) => resolve(data.toString()));
    });
    socket.write(
      `POST /v1/email/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\n\r\n{"emails":[`,
    );
    expect(await answer).toStartWith("HTTP/1.1 401");
    socket.destroy();
  });
});

describe("402", () => {
  test("of a thousand calls at once with ten units left, ten are answered and the rest refused", async () => {
    const plans = DEFAULT_PLANS.map((plan) => ({
      ...plansView([plan]).plans[0],
      requests_per_second: 100_000,
      burst: 100_000,
      ...(plan.plan === "free" ? { included_units: 10 } : {}),
    }));
    const folder = mkdtempSync(join(tmpdir(), "assay-plans-"));
    const PLANS_FILE = join(folder, "plans.json");
    writeFileSync(PLANS_FILE, JSON.stringify({ currency: "USD", plans }));
    await using poorServer = await startTestServer({ environment: { PLANS_FILE } });
    const poor = await poorServer.signUp("free");
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const reply = await poorServer.call("/v1/email/verify?email=a@good.com", { key: poor });
        return reply.status === 200 ? "200" : await refusalOf(reply);
      }),
    );
    const counts = Object.groupBy(statuses, (status) => status);
    expect(counts["200"]).toHaveLength(10);
    expect(counts["402 quota_exceeded"]).toHaveLength(990);
    const head = await poorServer.call("/v1/email/verify?email=a@good.com", { key: poor, method: "HEAD" });
    expect(head.status).toBe(402);
    const account = await accountOf(await poorServer.call("/v1/account", { key: poor }));
    expect(account.usage).toMatchObject({ units: 10, remaining_units: 0 });
    rmSync(folder, { recursive: true });
  });
});

describe("429", () => {
  test("more calls than the plan's burst are refused with the seconds to wait", async () => {
    const poor = await server.signUp("free");
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => server.call("/v1/email/verify?email=a@good.com", { key: poor })),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeWithin(15, 21);
    expect(await refusalOf(refused[0] as Response)).toBe("429 rate_limited");
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(refused[0]?.headers.get("x-units-charged")).toBe("0");
  });
});
