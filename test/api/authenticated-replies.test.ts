import { describe, expect, test } from "bun:test";
import type { Operation } from "../../src/contract/specification/operation.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { OPERATIONS } from "../support/operations.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

/** Half of November is left. */
const NOW = Date.parse("2026-11-16T00:00:00Z");

const server = await startFileServer({ clock: { now: () => NOW, monotonic: systemClock.monotonic } });

describe("the limits in a keyed reply", () => {
  test("the month is that of the plan in force when the call is answered", async () => {
    const key = await server.signUp("free");
    const before = await server.call("/v1/account", { key });
    expect(before.headers.get("ratelimit-policy")).toBe('"burst";q=20;w=2, "month";q=1000;qu="units"');
    expect(before.headers.get("ratelimit")).toMatch(/^"burst";r=19;t=1, "month";r=1000;t=\d+$/);
    expect(before.headers.get("x-units-remaining")).toBe("1000");
    const upgraded = await server.call("/v1/account/plan", { key, body: { plan: "growth" } });
    expect(upgraded.headers.get("ratelimit-policy")).toEndWith('"month";q=125000;qu="units"');
    expect(upgraded.headers.get("ratelimit")).toContain('"month";r=125000;');
    expect(upgraded.headers.has("x-units-remaining")).toBe(false);
  });

  test("a refusal has them, too", async () => {
    const key = await server.signUp("starter");
    const reply = await server.call("/v1/email/verify", { key, body: "{" });
    expect(await refusalOf(reply)).toBe("400 invalid_json");
    expect(reply.headers.get("ratelimit-policy")).toBe('"burst";q=100;w=2, "month";q=12500;qu="units"');
    expect(reply.headers.get("x-units-charged")).toBe("0");
  });
});

describe("a POST without a body", () => {
  test("needs no Content-Type", async () => {
    const key = await server.signUp();
    const rotated = await server.call("/v1/account/keys/rotate", { key, method: "POST" });
    expect(rotated.status).toBe(201);
  });

  test("is 400 where the route needs fields", async () => {
    const key = await server.signUp();
    const reply = await server.call("/v1/email/verify", { key, method: "POST" });
    expect(await refusalOf(reply)).toBe("400 invalid_request");
  });
});

describe("a POST or PATCH without a body, whatever Content-Type it names", () => {
  const isRead = ({ body }: Operation) =>
    Object.keys(body ?? {}).every((type) => type === "application/json");
  const changes = OPERATIONS.filter(({ method }) => method === "POST" || method === "PATCH").filter(isRead);

  test.each(changes.map(({ method, path }) => [method, path]))("is not 415: %s %s", async (method, path) => {
    const key = await server.signUp();
    const reply = await fetch(server.url + path.replaceAll(/:\w+/g, "none"), {
      method,
      // As `curl -d ''`.
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/x-www-form-urlencoded" },
      body: "",
    });
    expect(["201", "400 invalid_request", "404 not_found"]).toContain(
      reply.ok ? `${reply.status}` : await refusalOf(reply),
    );
  });
});

describe("a batch is answered in lines", () => {
  test.each([
    ["application/x-ndjson", true],
    ["APPLICATION/X-NDJSON", true],
    ["application/ndjson, */*;q=0.1", true],
    ["application/json, application/x-ndjson", true],
    ["application/json, application/x-ndjson;q=0.5", false],
    ["application/json, application/x-ndjson;q=0", false],
    ["application/*", false],
    ["*/*", false],
    ["text/html", false],
  ])("where Accept asks for them: %s", async (accept, isLines) => {
    const key = await server.signUp();
    const reply = await server.call("/v1/phone/batch", {
      key,
      body: { phones: [] },
      headers: { Accept: accept },
    });
    const type = isLines ? "application/x-ndjson" : "application/json";
    expect(reply.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
  });
});
