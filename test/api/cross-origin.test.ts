import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHROMIUM, startBrowser } from "../support/browser.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

const PAGE = "https://app.example";
const STRANGE = "https://other.example";

/** A page of one origin at 127.0.0.1, and of another at localhost. */
let pages: Bun.Server<undefined>;
let server: TestServer;
let key: string;
beforeAll(async () => {
  pages = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("a page") });
  const origins = [PAGE, "http://localhost:5173", `http://127.0.0.1:${pages.port}`];
  server = await startTestServer({ environment: { CORS_ORIGINS: origins.join(", ") } });
  key = await server.signUp();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await pages.stop(true);
});

const allowed = (reply: Response) => reply.headers.get("access-control-allow-origin");

describe("a page of another origin", () => {
  test.each(["/v1/plans", "/v1/directory", "/openapi.json", "/healthz", "/health", "/nowhere"])(
    "may read %s, wherever it comes from",
    async (path) => {
      for (const headers of [{ Origin: STRANGE }, { Origin: "null" }, {}])
        expect(allowed(await server.call(path, { headers }))).toBe("*");
    },
  );

  test("may read keyed replies and refusals only where CORS_ORIGINS names its origin", async () => {
    for (const Origin of [PAGE, "http://localhost:5173"]) {
      const reply = await server.call("/v1/account", { key, headers: { Origin } });
      expect([reply.status, allowed(reply), reply.headers.get("vary")]).toEqual([200, Origin, "Origin"]);
      expect(allowed(await server.call("/v1/account", { headers: { Origin } }))).toBe(Origin);
    }
    for (const Origin of [
      STRANGE,
      "null",
      `${PAGE}.evil.example`,
      "http://app.example",
      PAGE.toUpperCase(),
    ]) {
      const reply = await server.call("/v1/account", { key, headers: { Origin } });
      expect([Origin, reply.status, allowed(reply), reply.headers.get("vary")]).toEqual([
        Origin,
        200,
        null,
        "Origin",
      ]);
    }
  });

  test("may not read the metrics", async () => {
    expect(allowed(await server.call("/metrics", { headers: { Origin: PAGE } }))).toBeNull();
  });

  test("gets the allowed methods and headers by a preflight request", async () => {
    const ask = (Origin: string) =>
      server.call("/v1/email/batch", {
        method: "OPTIONS",
        headers: {
          Origin,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
        },
      });
    const reply = await ask(PAGE);
    expect(reply.status).toBe(204);
    expect(allowed(reply)).toBe(PAGE);
    expect(reply.headers.get("access-control-allow-methods")).toBe("OPTIONS, POST");
    expect(reply.headers.get("access-control-allow-headers")).toBe(
      "authorization,content-type,idempotency-key",
    );
    const refused = await ask(STRANGE);
    expect([refused.status, allowed(refused)]).toEqual([204, null]);
    expect(refused.headers.get("access-control-allow-methods")).toBeNull();
  });
});

test("without CORS_ORIGINS no page may read keyed replies", async () => {
  await using closed = await startTestServer();
  const reply = await closed.call("/v1/account", { headers: { Origin: PAGE } });
  expect([allowed(reply), reply.headers.get("vary")]).toEqual([null, null]);
});

test.each([
  ["/v1/plans", "GET, HEAD, OPTIONS"],
  ["/v1/email/verify", "GET, HEAD, OPTIONS, POST"],
  ["/v1/email/batch", "OPTIONS, POST"],
  ["/v1/directory/scan.example", "GET, HEAD, OPTIONS"],
  ["/metrics", "GET, HEAD, OPTIONS"],
])("OPTIONS %s is 204 and names the methods, without a key", async (path, allow) => {
  const reply = await server.call(path, { method: "OPTIONS" });
  expect([reply.status, reply.headers.get("allow"), await reply.text()]).toEqual([204, allow, ""]);
  expect(reply.headers.get("x-request-id")).toStartWith("req_");
});

test("OPTIONS of an unknown path is 404", async () => {
  expect(await refusalOf(await server.call("/nowhere", { method: "OPTIONS" }))).toBe("404 not_found");
});

test("a compressed reply to a page varies by encoding and origin", async () => {
  const reply = await server.call("/v1/account/usage", { key, headers: { Origin: PAGE } });
  const batch = await server.call("/v1/email/batch", {
    key,
    body: { emails: Array.from({ length: 40 }, (_, at) => `ann${at}@good.com`), dns: false },
    headers: { Origin: PAGE },
  });
  expect(reply.headers.get("vary")).toContain("Origin");
  expect(batch.headers.get("content-encoding")).toBe("gzip");
  expect(batch.headers.get("vary")?.split(", ").toSorted()).toEqual(["Accept-Encoding", "Origin"]);
});

if (CHROMIUM === null) console.log("cross-origin: no chromium here; the test with a real page is skipped");

test.skipIf(CHROMIUM === null)(
  "a browser lets a page of a named origin call with a key and read headers, and any other page what is public",
  async () => {
    await using browser = await startBrowser(CHROMIUM ?? "");
    const visit = async (host: string) => {
      await browser.open(`http://${host}:${pages.port}/`);
      await browser.until(`location.hostname === "${host}" && document.readyState === "complete"`);
    };
    const publicReplies = () =>
      browser.evaluate<number[]>(
        `Promise.all(["/v1/plans", "/v1/directory", "/openapi.json"].map((path) => fetch("${server.url}" + path).then(async (reply) => { await reply.json(); return reply.status; })))`,
      );
    const verified = () =>
      browser.evaluate<string>(
        `fetch("${server.url}/v1/email/verify", { method: "POST", headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json", "Idempotency-Key": "page-1" }, body: '{"email":"ann@good.com"}' }).then(async (reply) => (await reply.json()).status + " " + reply.headers.get("X-Units-Charged"), (error) => error.name)`,
      );
    await visit("127.0.0.1");
    expect(await publicReplies()).toEqual([200, 200, 200]);
    expect(await verified()).toBe("deliverable 1");
    await visit("localhost");
    expect(await publicReplies()).toEqual([200, 200, 200]);
    expect(await verified()).toBe("TypeError");
  },
  60_000,
);
