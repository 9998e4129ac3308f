import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

const PAGE = "https://app.example";
const STRANGE = "https://other.example";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer({ environment: { CORS_ORIGINS: `${PAGE}, http://localhost:5173` } });
  key = await server.signUp();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
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

  test("may read what a key answers, and what it is refused, only where CORS_ORIGINS names its origin", async () => {
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

  test("may read no measurements", async () => {
    expect(allowed(await server.call("/metrics", { headers: { Origin: PAGE } }))).toBeNull();
  });

  test("asks before it sends a key, and learns what it may send", async () => {
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

test("without CORS_ORIGINS no page may read what a key answers", async () => {
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
