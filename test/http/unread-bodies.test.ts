import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { createUnreadBodies, unreadBytes, untilEnd } from "../../src/http/unread-bodies.ts";
import { testBoundary } from "../support/boundary.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { openRaw, type RawConnection } from "../support/raw-http.ts";
import { startTestServer } from "../support/server.ts";

const MEGABYTE = 1_048_576;

const called = (headers: Record<string, string>, method = "POST") =>
  new Request("http://localhost/", { method, headers });

describe("the unread bytes after a reply", () => {
  test.each([
    ["no body", {}, 200, 0],
    ["a body that has come with its head", { "content-length": "65536" }, 401, 0],
    ["a larger one", { "content-length": "65537" }, 401, 65_537],
    ["a larger one behind a success", { "content-length": "65537" }, 200, 65_537],
    ["one without a length", { "transfer-encoding": "chunked" }, 404, Number.POSITIVE_INFINITY],
    ["one whose length comes twice", { "content-length": "5, 5" }, 400, Number.POSITIVE_INFINITY],
  ] as const)("%s", (_, headers, status, bytes) => {
    expect(unreadBytes(called(headers), status)).toBe(bytes);
  });

  test("none of a body that was read, unless the reply says that it was too large", async () => {
    const headers = { "content-length": "70000" };
    const request = new Request("http://localhost/", { method: "POST", headers, body: "a".repeat(70_000) });
    await request.arrayBuffer();
    expect([200, 400, 402, 413, 503].map((status) => unreadBytes(request, status))).toEqual([
      0, 0, 0, 70_000, 70_000,
    ]);
  });
});

test("a body that its call leaves halfway is unread, whatever it is answered with", async () => {
  const headers = { "content-length": "70000" };
  const request = new Request("http://localhost/", { method: "POST", headers, body: "a".repeat(70_000) });
  const call = { isBodyLeft: false };
  const parts = untilEnd(call, request.body ?? new ReadableStream());
  await parts.next();
  expect([400, 404].map((status) => unreadBytes(request, status, call.isBodyLeft))).toEqual([70_000, 70_000]);
  for await (const _ of parts);
  expect(unreadBytes(request, 400, call.isBodyLeft)).toBe(0);
});

describe("unread bodies", () => {
  const HELD_MS = 20;

  /** What passes for callers of these addresses. */
  function unread() {
    let nowMs = 0;
    const bodies = createUnreadBodies({ monotonic: () => nowMs }, HELD_MS);
    return {
      pass: (address: string, bytes: number) =>
        bodies.pass({ account: null, clientAddress: () => address, request: called({}) }, bytes),
      later: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  test("are drained for each caller at a bounded rate, and close their connections beyond it", async () => {
    const { pass, later } = unread();
    expect(await pass("10.0.0.1", 64 * MEGABYTE)).toBeFalse();
    expect(await pass("10.0.0.1", MEGABYTE)).toBeTrue();
    expect(await pass("10.0.0.2", MEGABYTE)).toBeFalse();
    later(64);
    expect(await pass("10.0.0.1", MEGABYTE)).toBeFalse();
    expect(await pass("10.0.0.1", MEGABYTE)).toBeTrue();
  });

  test("of a caller slightly above the rate wait, and keep their connection", async () => {
    const { pass } = unread();
    expect(await pass("10.0.0.1", 64 * MEGABYTE)).toBeFalse();
    const startedMs = performance.now();
    expect(await pass("10.0.0.1", (HELD_MS - 1) * 16_384)).toBeFalse();
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(HELD_MS - 2);
  });
});

const bytesOf = (text: string) => new TextEncoder().encode(text);
const ROWS = bytesOf(`100000\r\n${"a\n".repeat(MEGABYTE / 2)}\r\n`);

/** Sends parts until the connection closes, 400 MB at most; returns how many were sent. */
async function sendOn(connection: RawConnection, part = ROWS): Promise<number> {
  const most = (400 * MEGABYTE) / part.byteLength;
  let sent = 0;
  for (; sent < most && !connection.isClosed(); sent += 1) await connection.writeAll(part);
  return sent;
}

describe("a body without an end", () => {
  test.each(["GET", "POST"])("is not drained after a reply to %s: the connection closes", async (method) => {
    const boundary = testBoundary();
    const enter = boundary.route("/", () => ({ status: 200, body: "{}" }));
    await using server = Bun.serve({
      port: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request) => enter({ request }),
    });
    using connection = await openRaw(server.url.href);
    connection.write(`${method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const sent = await sendOn(connection);
    expect(connection.received()).toStartWith("HTTP/1.1 200");
    expect(connection.received()).toContain("Connection: close");
    expect(sent).toBeLessThan(200);
  });

  test("is not drained once a row of its job is refused, or the job of its part is gone", async () => {
    await using server = await startTestServer();
    const key = await server.signUp("free");
    const open = async (call: string) => {
      const connection = await openRaw(server.url);
      const head = `Host: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: text/plain`;
      connection.write(`${call} HTTP/1.1\r\n${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      return connection;
    };
    using rows = await open("POST /v1/jobs");
    expect(await sendOn(rows)).toBeLessThan(200);
    expect(rows.received()).toMatch(/^HTTP\/1\.1 400 .*Connection: close/s);
    const created = await server.call("/v1/jobs?upload=parts", { key, method: "POST" });
    const path = `/v1/jobs/${(await jsonOf<{ job_id: string }>(created)).job_id}`;
    using part = await open(`PUT ${path}/parts/1`);
    await part.writeAll(new TextEncoder().encode("1\r\na\r\n"));
    const names = () => readdirSync(server.dataDir, { recursive: true, encoding: "utf8" });
    await until("file of the part", () => names().some((name) => name.endsWith(".new")));
    expect((await server.call(path, { key, method: "DELETE" })).status).toBe(204);
    expect(await sendOn(part)).toBeLessThan(200);
    expect(part.received()).toMatch(/^HTTP\/1\.1 404 .*Connection: close/s);
  });

  test.each([
    ["POST /v1/jobs", "text/plain", "ann@good.com\n"],
    ["PUT part", "text/plain", "ann@good.com\n"],
    ["POST /v1/email/verify", "application/json", '{"email":"ann@good.com"}'],
    ["POST /v1/email/batch", "application/json", '{"emails":["ann@good.com"]}'],
  ])("is not drained behind encoded data that end before it: %s", async (name, type, text) => {
    await using server = await startTestServer();
    const key = await server.signUp("free");
    let call = name;
    if (name === "PUT part") {
      const created = await server.call("/v1/jobs?upload=parts", { key, method: "POST" });
      call = `PUT /v1/jobs/${(await jsonOf<{ job_id: string }>(created)).job_id}/parts/1`;
    }
    using connection = await openRaw(server.url);
    const head = `Host: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\nContent-Encoding: gzip`;
    connection.write(`${call} HTTP/1.1\r\n${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const member = gzipSync(text);
    await connection.writeAll(
      Buffer.concat([bytesOf(`${member.byteLength.toString(16)}\r\n`), member, bytesOf("\r\n")]),
    );
    // Decoders take zero bytes behind the data for padding.
    const zeros = Buffer.concat([bytesOf("10000\r\n"), new Uint8Array(65_536), bytesOf("\r\n")]);
    expect(await sendOn(connection, zeros)).toBeLessThan(3_200);
    expect(connection.received()).toMatch(/^HTTP\/1\.1 400 .*Connection: close/s);
  });

  test("that ends after all keeps its connection", async () => {
    const boundary = testBoundary();
    const enter = boundary.route("/", () => ({ status: 200, body: "{}" }));
    await using server = Bun.serve({ port: 0, fetch: (request) => enter({ request }) });
    const body = new ReadableStream<Uint8Array>({
      start(parts) {
        for (let count = 0; count < 40; count += 1) parts.enqueue(new Uint8Array(65_536));
        parts.close();
      },
    });
    const reply = await fetch(server.url, { method: "POST", body });
    expect([reply.status, await reply.text(), reply.headers.get("connection")]).toEqual([200, "{}", null]);
  });
});
