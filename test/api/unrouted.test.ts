import { describe, expect, test } from "bun:test";
import { accountOf } from "../support/json.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

const server = await startFileServer();

describe("404", () => {
  test.each([
    "/",
    "/v1",
    "/v2/email/verify",
    "/v1/email",
    "/v1/email/verify/more",
    "/V1/EMAIL/VERIFY",
    "/v1/plans%00",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/docs/package.json",
    "/__proto__",
    "/v1/constructor",
    `/${"x".repeat(4000)}`,
    "/%E0%A4%A",
    "//other.example/v1/plans",
  ])("%s", async (path) => {
    const reply = await server.call(path);
    expect(await refusalOf(reply)).toBe("404 not_found");
    expect(reply.headers.get("x-request-id")).toStartWith("req_");
    expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test("a body sent to an unknown path is not read", async () => {
    expect(await refusalOf(await server.call("/nowhere", { body: "x".repeat(1_000_000) }))).toBe(
      "404 not_found",
    );
  });
});

describe("405", () => {
  test.each([
    ["/v1/plans", "POST", "GET, HEAD, OPTIONS"],
    ["/v1/plans/", "POST", "GET, HEAD, OPTIONS"],
    ["/v1/signup", "GET", "OPTIONS, POST"],
    ["/v1/signup", "DELETE", "OPTIONS, POST"],
    ["/v1/account", "PUT", "GET, HEAD, OPTIONS"],
    ["/v1/account/plan", "GET", "OPTIONS, POST"],
    ["/v1/email/verify", "PATCH", "GET, HEAD, OPTIONS, POST"],
    ["/v1/email/verify", "DELETE", "GET, HEAD, OPTIONS, POST"],
    ["/v1/email/batch", "GET", "OPTIONS, POST"],
    ["/v1/identity/validate", "PUT", "GET, HEAD, OPTIONS, POST"],
    ["/v1/phone/batch", "GET", "OPTIONS, POST"],
    ["/v1/directory/scan.example", "DELETE", "GET, HEAD, OPTIONS"],
    ["/openapi.json", "POST", "GET, HEAD, OPTIONS"],
  ])("%s %s names the methods that it takes", async (path, method, allow) => {
    const reply = await server.call(path, { method });
    expect(reply.headers.get("allow")).toBe(allow);
    expect(await refusalOf(reply)).toBe("405 method_not_allowed");
  });
});

describe("HEAD", () => {
  test.each(["/v1/plans", "/healthz", "/openapi.json", "/docs"])(
    "%s answers what GET answers, without a body",
    async (path) => {
      const head = await server.call(path, { method: "HEAD" });
      const get = await server.call(path);
      for (const name of ["content-type", "content-length", "access-control-allow-origin"])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      expect(head.status).toBe(200);
      expect(await head.text()).toBe("");
    },
  );

  test.each([
    "/v1/email/verify?email=a@good.com",
    "/v1/identity/validate?type=cpf&value=1",
    "/v1/identity/autodetect?value=1",
    "/v1/phone/validate?phone=1",
  ])("%s checks nothing and costs nothing", async (path) => {
    const key = await server.signUp();
    const head = await server.call(path, { method: "HEAD", key });
    expect([head.status, head.headers.get("x-units-charged"), await head.text()]).toEqual([200, "0", ""]);
    expect(head.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(head.headers.get("content-length")).toBeNull();
    const refused = await server.call(path.slice(0, path.indexOf("?")), { method: "HEAD", key });
    expect(refused.status).toBe(400);
    const { usage } = await accountOf(await server.call("/v1/account", { key }));
    expect([usage.units, usage.calls]).toEqual([0, 1]);
    expect((await server.call(path, { method: "HEAD" })).status).toBe(401);
  });
});
