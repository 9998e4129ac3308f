import { describe, expect, test } from "bun:test";
import type { Operation } from "../../src/contract/specification/operation.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { OPERATIONS } from "../support/operations.ts";
import { type RawReply, rawCall } from "../support/raw-http.ts";
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

const IN_CHUNKS = "Transfer-Encoding: chunked\r\n\r\n";

describe("a POST or PATCH without a body, whatever Content-Type it names", () => {
  const isRead = ({ body }: Operation) =>
    Object.keys(body ?? {}).every((type) => type === "application/json");
  const changes = OPERATIONS.filter(({ method }) => method === "POST" || method === "PATCH").filter(isRead);

  // The first as `curl -d ''` sends it, the second as a proxy may pass it on.
  const empty = { "of length 0": "Content-Length: 0\r\n\r\n", "in chunks": `${IN_CHUNKS}0\r\n\r\n` };
  const cases = Object.entries(empty).flatMap(([how, end]) =>
    changes.map(({ method, path }) => [how, method, path, end] as const),
  );

  test.each(cases)("is not 415: %s, %s %s", async (_, method, path, end) => {
    const { status, body } = await sendForm(`${method} ${path.replaceAll(/:\w+/g, "none")}`, end);
    const outcome = status === 201 ? "201" : await refusalOf(new Response(body, { status }));
    expect(["201", "400 invalid_request", "404 not_found"]).toContain(outcome);
  });

  test("a form in chunks is", async () => {
    const form = `${IN_CHUNKS}3\r\na=b\r\n0\r\n\r\n`;
    const { status, body } = await sendForm("POST /v1/account/keys/rotate", form);
    expect(await refusalOf(new Response(body, { status }))).toBe("415 unsupported_media_type");
  });
});

/** Sends the type of a form; `end` is what follows the other headers. */
async function sendForm(line: string, end: string): Promise<RawReply> {
  const head = [
    `${line} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Connection: close",
    `Authorization: Bearer ${await server.signUp()}`,
    "Content-Type: application/x-www-form-urlencoded",
    end,
  ];
  return await rawCall(server.url, head.join("\r\n"));
}

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
