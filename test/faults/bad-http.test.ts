import { expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../support/caller.ts";
import { startFileFaultServer } from "../support/fault-server.ts";
import { openRaw, readReply } from "../support/raw-http.ts";

setDefaultTimeout(120_000);

const { server, caller, key } = await startFileFaultServer("bad-http");

const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
const HOST = "Host: 127.0.0.1";
const JSON_TYPE = "Content-Type: application/json";
const bearer = () => `Authorization: Bearer ${key}`;
const CHECK = `{"phone":"+442079460000"}`;
const post = (...headers: string[]) =>
  lines("POST /v1/phone/validate HTTP/1.1", HOST, JSON_TYPE, bearer(), ...headers);

type Bad = { readonly [name: string]: string | Uint8Array };

/** What is no HTTP is refused by its status line alone, and the connection ends with it. */
const refused = (): { readonly [status: number]: Bad } => ({
  400: {
    bytes: new Uint8Array(2000).map((_, at) => (at * 7919) % 256),
    "a TLS hello": new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, ...new Uint8Array(500)]),
    "HTTP 2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no host": lines("GET /healthz HTTP/1.1"),
    "no path": lines("GET HTTP/1.1", HOST),
    "a relative path": lines("GET healthz HTTP/1.1", HOST),
    "an asterisk": lines("OPTIONS * HTTP/1.1", HOST),
    "a header without a colon": lines("GET /healthz HTTP/1.1", HOST, "NoColon"),
    "a header name with a space": lines("GET /healthz HTTP/1.1", HOST, "Bad Name: 1"),
    "a space before the colon": lines("GET /healthz HTTP/1.1", HOST, "Content-Length : 5"),
    "a folded header": lines("GET /healthz HTTP/1.1", HOST, "X-A: 1", "  folded"),
    "NUL in a header": lines("GET /healthz HTTP/1.1", HOST, "X-A: a\0b"),
    "a negative length": post("Content-Length: -5") + CHECK,
    "a length that is no number": post("Content-Length: five") + CHECK,
    "a length with a sign": post(`Content-Length: +${CHECK.length}`) + CHECK,
    "a length of 2^64": post("Content-Length: 18446744073709551617") + CHECK,
    "two lengths": post(`Content-Length: ${CHECK.length}`, "Content-Length: 3") + CHECK,
    "a length and chunks": `${post("Content-Length: 3", "Transfer-Encoding: chunked")}0\r\n\r\n`,
    "an unknown encoding": post("Transfer-Encoding: gzip") + CHECK,
    "a chunk size that is no number": `${post("Transfer-Encoding: chunked")}zz\r\n{}\r\n0\r\n\r\n`,
    "a chunk of 2^64": `${post("Transfer-Encoding: chunked")}FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n`,
    "a field behind the last chunk": `${post("Transfer-Encoding: chunked")}${CHECK.length.toString(16)}\r\n${CHECK}\r\n0\r\nX-A: 1\r\n\r\n`,
    "a chunk longer than it says": `${post("Transfer-Encoding: chunked")}1\r\n${CHECK}\r\n0\r\n\r\n`,
  },
  431: {
    "a path of 64 KB": lines(`GET /${"a".repeat(65_536)} HTTP/1.1`, HOST),
    "a header of 64 KB": lines("GET /healthz HTTP/1.1", HOST, `X-Long: ${"a".repeat(65_536)}`),
    "2,000 headers": lines(
      "GET /healthz HTTP/1.1",
      HOST,
      ...Array.from({ length: 2000 }, (_, at) => `X-${at}: 1`),
    ),
  },
  505: {
    "HTTP 0.9": "GET /healthz\r\n\r\n",
    "HTTP 3.7": lines("GET /healthz HTTP/3.7", HOST),
    "a path with a space": lines("GET /health z HTTP/1.1", HOST),
    "a path with NUL": lines("GET /healthz\0 HTTP/1.1", HOST),
    "bare line feeds": "GET /healthz HTTP/1.1\nHost: a\n\n",
  },
});

for (const [status, name] of Object.entries(refused()).flatMap(([status, bad]) =>
  Object.keys(bad).map((name) => [Number(status), name] as const),
)) {
  test(`${name} is refused with ${status}, and the connection is closed`, async () => {
    using connection = await openRaw(server.url);
    connection.write(refused()[status]?.[name] ?? "");
    await until("end of the connection", () => connection.isClosed());
    expect(readReply(connection.received())).toMatchObject({ status, body: "" });
  });
}

for (const method of ["BREW", "get", "G€T"]) {
  test(`the method ${method} ends the connection`, async () => {
    using connection = await openRaw(server.url);
    connection.write(lines(`${method} /healthz HTTP/1.1`, HOST));
    await until("end of the connection", () => connection.isClosed());
    expect(connection.received()).not.toContain("200");
  });
}

const ODD = (): { readonly [name: string]: readonly [request: string, answer: string] } => ({
  TRACE: [lines("TRACE /healthz HTTP/1.1", HOST), "405 method_not_allowed"],
  CONNECT: [lines("CONNECT example.com:443 HTTP/1.1", HOST), "404 not_found"],
  "a compressed body": [
    `${post("Content-Encoding: gzip", "Content-Length: 4")}\x1f\x0bab`,
    "400 invalid_request",
  ],
  "the same length twice": [
    post(`Content-Length: ${CHECK.length}`, `Content-Length: ${CHECK.length}`) + CHECK,
    "400 invalid_request",
  ],
  "a path of dots": [lines("GET /v1/../../etc/passwd HTTP/1.1", HOST), "404 not_found"],
  "a path of broken escapes": [lines("GET /v1/%zz%00%ff HTTP/1.1", HOST), "404 not_found"],
  "a query of broken escapes": [lines("GET /v1/phone/validate?phone=%zz%00 HTTP/1.1", HOST, bearer()), "200"],
  "a query that is not UTF-8": [
    lines("GET /v1/phone/validate?phone=%zz%00%ff HTTP/1.1", HOST, bearer()),
    "400 invalid_request",
  ],
  "a query that is not UTF-8, in a parameter that no route has": [
    lines("GET /v1/account?x=%ff HTTP/1.1", HOST, bearer()),
    "200",
  ],
  "a query that is not UTF-8, without a key": [
    lines("GET /v1/phone/validate?phone=%ff HTTP/1.1", HOST),
    "401 missing_key",
  ],
  "an absolute address": [lines("GET http://other.example/healthz HTTP/1.1", HOST), "200"],
  "an upgrade": [lines("GET /healthz HTTP/1.1", HOST, "Connection: Upgrade", "Upgrade: websocket"), "200"],
  "an unknown expectation": [post("Expect: coffee", `Content-Length: ${CHECK.length}`) + CHECK, "200"],
  "HTTP 1.0": [lines("GET /healthz HTTP/1.0", HOST), "200"],
  "HTTP 1.0 without a host": [lines("GET /nowhere HTTP/1.0"), "404 not_found"],
  "a fragment": [lines("GET /v1/plans#a HTTP/1.1", HOST), "400 invalid_request"],
  "an empty host": [lines("PUT /v1/plans HTTP/1.1", "Host:"), "405 method_not_allowed"],
  "an invalid host": [
    post("Host: a b%%[", "Idempotency-Key: odd", `Content-Length: ${CHECK.length}`).replace(
      `${HOST}\r\n`,
      "",
    ) + CHECK,
    "200",
  ],
});

for (const name of Object.keys(ODD())) {
  test(`${name} is unusual but valid HTTP, and is answered like any other call`, async () => {
    const [request = "", answer = ""] = ODD()[name] ?? [];
    using connection = await openRaw(server.url);
    connection.write(request);
    await until("answer", () => connection.received().endsWith("}"));
    const { status, body, header } = readReply(connection.received());
    const { error } = JSON.parse(body) as { error?: { code: string } };
    expect(error === undefined ? `${status}` : `${status} ${error.code}`).toBe(answer);
    expect(header("X-Request-Id")).toStartWith("req_");
  });
}

test("a body with Expect: 100-continue is refused before a byte of it is sent where the key is bad", async () => {
  using connection = await openRaw(server.url);
  connection.write(
    post("Expect: 100-continue", "Content-Length: 1000").replace(bearer(), "Authorization: Bearer asy_bad"),
  );
  await until("refusal", () => connection.received().endsWith("}"));
  // Bun.serve writes the 100 by itself, before any handler.
  const refusal = connection.received().replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
  expect(readReply(refusal)).toMatchObject({ status: 401 });
});

test("pipelined calls are answered in order", async () => {
  using connection = await openRaw(server.url);
  const call = (path: string) => lines(`GET ${path} HTTP/1.1`, HOST);
  connection.write(call("/healthz") + call("/nowhere") + call("/v1/plans"));
  await until("three answers", () => connection.received().includes('"currency"'));
  const statuses = [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  expect(statuses).toEqual(["200", "404", "200"]);
});

test("a call that is sent ahead of an answer which takes a turn closes the connection", async () => {
  using connection = await openRaw(server.url);
  const account = lines("GET /v1/account HTTP/1.1", HOST, bearer());
  connection.write(account + account);
  await connection.closed;
  expect(connection.received()).toBe("");
});

test("after all of that three checks were charged, and nothing was a bug", async () => {
  expect(await caller.unitsOf(key)).toBe(3);
  expect(server.logged()).toEqual([]);
});
