import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../support/caller.ts";
import { startFileFaultServer } from "../support/fault-server.ts";
import { openRaw, type RawConnection, readReply } from "../support/raw-http.ts";
import { refusalOf } from "../support/server.ts";

setDefaultTimeout(120_000);

const BODY_BYTES_MAX = 1_000_000;
const BODIES_BYTES_MAX = 2_000_000;
const MEGABYTE = 1_048_576;
const SENT_BYTES_MAX = 300 * MEGABYTE;

const { server, caller, key } = await startFileFaultServer("large-bodies", {
  BODY_BYTES_MAX: `${BODY_BYTES_MAX}`,
  BODIES_BYTES_MAX: `${BODIES_BYTES_MAX}`,
});

const head = (path: string, bearer: string | null, ...headers: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    ...(bearer === null ? [] : [`Authorization: Bearer ${bearer}`]),
    ...headers,
    "\r\n",
  ].join("\r\n");

/** Sends bytes without an end until the server answers or closes; how many it was given. */
async function pour(connection: RawConnection, part: Uint8Array): Promise<number> {
  let sentBytes = 0;
  while (connection.received() === "" && !connection.isClosed() && sentBytes < SENT_BYTES_MAX) {
    await connection.writeAll(part);
    sentBytes += part.byteLength;
    // What the kernel takes at once needs no waiting, and an answer is only heard between two turns.
    await new Promise(setImmediate);
  }
  await until("answer", () => connection.received().includes("}}") || connection.isClosed());
  return sentBytes;
}

function refusalIn(text: string): string {
  const { status, body } = readReply(text);
  const json = body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1);
  const { error } = JSON.parse(json);
  expect(Object.keys(error)).toEqual(["code", "message"]);
  return `${status} ${error.code}`;
}

/** Does something while watching the server's memory; the most it grew by. */
async function grownMb(work: () => Promise<unknown>): Promise<number> {
  const beforeBytes = await server.rssBytes();
  let mostBytes = beforeBytes;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      mostBytes = Math.max(mostBytes, await server.rssBytes());
      await Bun.sleep(10);
    }
  })();
  await work().finally(() => {
    isDone = true;
  });
  await watching;
  return (mostBytes - beforeBytes) / MEGABYTE;
}

const PATHS = ["/v1/email/batch", "/v1/email/verify", "/v1/phone/batch", "/v1/account/plan", "/v1/signup"];

describe("a body over the limit", () => {
  for (const path of PATHS) {
    test(`of 1 GB by its header is refused before it is sent: ${path}`, async () => {
      using connection = await openRaw(server.url);
      connection.write(head(path, key, "Content-Length: 1073741824"));
      await until("answer", () => connection.received().includes("}}"));
      expect(refusalIn(connection.received())).toBe("413 payload_too_large");
      expect(connection.received()).toContain("X-Request-Id: ");
    });

    test(`without a length and an end is refused once it is too long, in flat memory: ${path}`, async () => {
      using connection = await openRaw(server.url);
      connection.write(head(path, key, "Transfer-Encoding: chunked"));
      const part = new TextEncoder().encode(`10000\r\n${"a".repeat(65_536)}\r\n`);
      let sentBytes = 0;
      const grown = await grownMb(async () => {
        sentBytes = await pour(connection, part);
      });
      expect(refusalIn(connection.received())).toBe("413 payload_too_large");
      expect(sentBytes).toBeLessThan(SENT_BYTES_MAX);
      expect(grown).toBeLessThan(100);
    });
  }

  test("of 1 GB that is sent after its refusal does not fill the memory", async () => {
    using connection = await openRaw(server.url);
    connection.write(head("/v1/email/batch", key, "Content-Length: 1073741824"));
    const part = new Uint8Array(MEGABYTE).fill(0x61);
    const grown = await grownMb(async () => {
      await pour(connection, part);
      // The answer is there; this client goes on regardless.
      for (let count = 0; count < 200 && !connection.isClosed(); count += 1) await connection.writeAll(part);
    });
    expect(refusalIn(connection.received())).toBe("413 payload_too_large");
    expect(grown).toBeLessThan(100);
  });

  test("without a key is refused for the missing key, unread and in flat memory", async () => {
    using connection = await openRaw(server.url);
    connection.write(head("/v1/email/batch", null, "Transfer-Encoding: chunked"));
    const part = new TextEncoder().encode(`10000\r\n${"a".repeat(65_536)}\r\n`);
    const grown = await grownMb(async () => {
      await pour(connection, part);
      for (let count = 0; count < 3200 && !connection.isClosed(); count += 1) await connection.writeAll(part);
    });
    expect(refusalIn(connection.received())).toBe("401 missing_key");
    expect(grown).toBeLessThan(100);
  });

  test("of exactly the limit is read, and one byte more is not", async () => {
    const text = (bytes: number) => `["a@good.com"]\n`.padEnd(bytes, "\n");
    const send = (bytes: number) =>
      caller.call("/v1/email/batch", {
        key,
        body: text(bytes).replace(/[[\]]/g, ""),
        headers: { "Content-Type": "application/x-ndjson" },
      });
    expect((await send(BODY_BYTES_MAX + 2)).status).toBe(200);
    expect((await send(BODY_BYTES_MAX + 3)).status).toBe(413);
  });

  test("is never charged, and the server goes on", async () => {
    expect(await caller.unitsOf(key)).toBe(1);
    expect((await caller.call("/healthz")).status).toBe(200);
    expect(server.logged()).toEqual([]);
  });
});

describe("large bodies at once", () => {
  const LARGE_BYTES = 900_000;
  const textHead = (...headers: string[]) =>
    head("/v1/email/batch", key, ...headers).replace("application/json", "text/plain");
  const large = "a@good.com\n".padEnd(LARGE_BYTES, "\n");
  const send = (body: string) =>
    caller.call("/v1/email/batch", { key, body, headers: { "Content-Type": "text/plain" } });

  /** An upload of which all has arrived but the last byte. */
  async function openUpload(): Promise<RawConnection> {
    const connection = await openRaw(server.url);
    connection.write(textHead(`Content-Length: ${LARGE_BYTES}`));
    await connection.writeAll(new TextEncoder().encode(large.slice(1)));
    return connection;
  }

  test("are refused beyond their common bound, and small ones are not", async () => {
    using first = await openUpload();
    using second = await openUpload();
    await until("arrival", async () => {
      const metrics = await (await caller.call("/metrics")).text();
      return Number(/^assay_batch_body_bytes (\d+)/m.exec(metrics)?.[1]) === 2 * LARGE_BYTES - 2;
    });
    const refused = await send(large);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refusalOf(refused)).toBe("503 overloaded");

    using endless = await openRaw(server.url);
    endless.write(textHead("Transfer-Encoding: chunked"));
    await pour(endless, new TextEncoder().encode(`10000\r\n${"\n".repeat(65_536)}\r\n`));
    expect(refusalIn(endless.received())).toBe("503 overloaded");

    expect((await send("a@good.com")).status).toBe(200);
    expect((await caller.call("/v1/email/verify", { key, body: { email: "a@good.com" } })).status).toBe(200);

    for (const connection of [first, second]) {
      connection.write("\n");
      await until("answer", () => connection.received().includes("units_charged"));
      expect(readReply(connection.received()).status).toBe(200);
    }
    expect((await send(large)).status).toBe(200);
  });

  test("that are announced and do not arrive take no memory from others", async () => {
    await using stack = new AsyncDisposableStack();
    for (let count = 0; count < 10; count += 1) {
      const connection = stack.use(await openRaw(server.url));
      connection.write(textHead(`Content-Length: ${LARGE_BYTES}`));
    }
    expect((await send(large)).status).toBe(200);
  });

  test("that break off release their memory to others", async () => {
    for (let count = 0; count < 5; count += 1) {
      using broken = await openUpload();
      broken.write("");
    }
    await until("room", async () => (await send(large)).status === 200);
  });
});

describe("bodies of calls other than batches", () => {
  const BODY_BYTES = 131_000;
  const CONNECTIONS_MAX = 800;
  const check = (bearer: string, body: object) =>
    caller.call("/v1/email/verify", { key: bearer, body: { email: "a@good.com", ...body } });

  test.each(["/v1/email/verify", "/v1/account/plan"])(
    "that stop arriving take their account's share of memory, and nobody else's: %s",
    async (path) => {
      const [attacker, victim] = await Promise.all([caller.signUp(), caller.signUp()]);
      await using stack = new AsyncDisposableStack();
      const connections: RawConnection[] = [];
      const answered = () => connections.find((connection) => connection.received().includes("}}"));
      while (answered() === undefined && connections.length < CONNECTIONS_MAX) {
        const connection = stack.use(await openRaw(server.url));
        connections.push(connection);
        connection.write(head(path, attacker, `Content-Length: ${BODY_BYTES}`));
        await connection.writeAll(new Uint8Array(BODY_BYTES - 1).fill(0x61));
      }
      await until("refusal", () => answered() !== undefined);
      expect(refusalIn(answered()?.received() ?? "")).toBe("503 overloaded");
      expect(await refusalOf(await check(attacker, { note: "a".repeat(BODY_BYTES - 100) }))).toBe(
        "503 overloaded",
      );
      expect((await check(attacker, {})).status).toBe(200);
      expect((await check(victim, { note: "a".repeat(BODY_BYTES - 100) })).status).toBe(200);
    },
  );

  test("are released at the end of their call", async () => {
    for (let count = 0; count < 600; count += 1) {
      const reply = await check(key, { note: "a".repeat(BODY_BYTES - 100) });
      expect(reply.status).toBe(200);
    }
  });
});
