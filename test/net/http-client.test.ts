import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { OutgoingError } from "../../src/net/failure.ts";
import { createHttpClient, type OutgoingRules } from "../../src/net/http-client.ts";
import type { OutgoingRequest } from "../../src/net/request.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { quickestWaitMs } from "../support/duration.ts";
import { startRawServer } from "../support/raw-server.ts";

/** Far more than anything takes here. */
const LIMITS = {
  lookupTimeoutMs: 20_000,
  connectTimeoutMs: 20_000,
  headTimeoutMs: 20_000,
  idleTimeoutMs: 20_000,
  totalTimeoutMs: 40_000,
  headBytesMax: 65_536,
  bodyBytesMax: 262_144,
  decodedBytesMax: 262_144,
};

function client(rules: OutgoingRules = {}) {
  return createHttpClient(
    { lookUp: async () => ({ ok: true, addresses: ["127.0.0.1"] }), clock: systemClock },
    { allowPrivate: true, limits: LIMITS, ...rules },
  );
}

/** The outcome of one request to a server: status and body, or the reason of the failure. */
async function outcome(
  answer: string | ((socket: Socket, request: string) => void),
  request: OutgoingRequest = {},
  rules: OutgoingRules = {},
): Promise<string> {
  using server = await startRawServer(
    typeof answer === "string" ? (socket) => socket.end(Buffer.from(answer, "latin1")) : answer,
  );
  const reply = await client(rules).send(`http://127.0.0.1:${server.port}/`, request);
  return reply.ok ? `${reply.status} ${Buffer.from(reply.body).toString("latin1")}` : reply.reason;
}

/** Sends a chunk again and again, as fast as it is taken. */
function pour(socket: Socket, chunk: string | Buffer): void {
  const go = (): void => {
    while (socket.writable) {
      if (!socket.write(chunk)) {
        socket.once("drain", go);
        return;
      }
    }
  };
  go();
}

function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (!socket.writable) return clearInterval(timer);
    socket.write(text[at % text.length] ?? "");
    at += 1;
  }, everyMs);
  socket.on("close", () => clearInterval(timer));
}

describe("a body", () => {
  test.each([
    ["of a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", "200 hello"],
    [
      "of a length said twice",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      "200 hello",
    ],
    ["up to the end of the connection", "HTTP/1.0 200 OK\r\n\r\nhello", "200 hello"],
    [
      "in chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
      "200 hello",
    ],
    [
      "in chunks with a trailer",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
      "200 hello",
    ],
    ["of lines that end in LF", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "200 hello"],
    ["of a reply without a phrase", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", "200 hello"],
    [
      "after an interim reply",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello",
      "200 hello",
    ],
    ["of a reply that has none", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "204 "],
    ["of nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 "],
    ["of an error", "HTTP/1.1 503 Unavailable\r\nContent-Length: 5\r\n\r\nlater", "503 later"],
    ["shorter than it says", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "body_incomplete"],
    [
      "without its last chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "body_incomplete",
    ],
    [
      "cut within a chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello",
      "body_incomplete",
    ],
    [
      "longer than its chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
      "bad_response",
    ],
    [
      "of chunks without a size",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhello\r\n0\r\n\r\n",
      "bad_response",
    ],
    [
      "of a negative chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
      "bad_response",
    ],
    [
      "of a huge chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello",
      "bad_response",
    ],
    [
      "of two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "bad_response",
    ],
    ["of an invalid length", "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", "bad_response"],
    [
      "in a coding of the transfer that nobody asked for",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "bad_response",
    ],
  ])("%s is read for what it is", async (_, reply, expected) => expect(await outcome(reply)).toBe(expected));

  test("to HEAD is empty whatever its length", async () => {
    const reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    expect(await outcome((socket) => void socket.write(reply), { method: "HEAD" })).toBe("200 ");
  });

  test("that comes one octet at a time is whole", async () => {
    const text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    expect(await outcome((socket) => drip(socket, text, 1))).toBe("200 hello");
  });

  test("past the limit is a failure, or its beginning where that is enough", async () => {
    const endless = (socket: Socket): void => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour(socket, "x".repeat(65_536));
    };
    expect(await outcome(endless)).toBe("body_too_large");
    expect(await outcome(endless, { truncateBody: true, bodyBytesMax: 1000 })).toBe(
      `200 ${"x".repeat(1000)}`,
    );
    const chunks = (socket: Socket): void => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      pour(socket, "1\r\nx\r\n".repeat(5000));
    };
    expect(await outcome(chunks)).toBe("body_too_large");
    const exact = `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(1000)}`;
    expect(await outcome(exact, { bodyBytesMax: 1000 })).toBe(`200 ${"x".repeat(1000)}`);
    expect(await outcome(exact, { bodyBytesMax: 999 })).toBe("body_too_large");
  });

  test("of chunks that carry more of themselves than of data is refused", async () => {
    const wasteful = (socket: Socket): void => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      pour(socket, `1;${"e".repeat(250)}\r\nx\r\n`.repeat(200));
    };
    expect(await outcome(wasteful)).toBe("bad_response");
  });

  test("is asked for plain, and comes as it is, unless gzip is accepted", async () => {
    const packed = gzipSync("hello");
    const reply = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n${packed.toString("latin1")}`;
    expect(await outcome(reply, {}, { acceptGzip: true })).toBe("200 hello");
    expect(await outcome(reply)).toBe(`200 ${packed.toString("latin1")}`);
    const other = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nhello";
    expect(await outcome(other, {}, { acceptGzip: true })).toBe("bad_encoding");
  });

  test("that inflates without end is given up at the limit", async () => {
    const bomb = gzipSync(new Uint8Array(100 * 1024 * 1024)).toString("latin1");
    const before = process.memoryUsage().rss;
    const reply = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n${bomb}`;
    expect(await outcome(reply, {}, { acceptGzip: true })).toBe("body_too_large");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("a head", () => {
  test("of 300 KB is given up at 64 KB", async () => {
    const long = `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(300_000)}\r\n\r\nhello`;
    expect(await outcome(long)).toBe("head_too_large");
    const many = `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(50_000)}\r\nhello`;
    expect(await outcome(many)).toBe("head_too_large");
    const interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(12_000);
    expect(await outcome(interim)).toBe("head_too_large");
    const endless = (socket: Socket): void => pour(socket, `HTTP/1.1 200 OK\r\nX: ${"x".repeat(65_536)}`);
    expect(await outcome(endless)).toBe("head_too_large");
  });

  test("of just under 64 KB is read, whatever it consists of, in little time", async () => {
    const spaces = `HTTP/1.1 200 OK\r\nX: a${" ".repeat(60_000)}b\r\n\r\nhello`;
    const read = async () => expect(await outcome(spaces)).toBe("200 hello");
    expect(await quickestWaitMs(read, 250)).toBeLessThan(250);
  });

  test.each([
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["HTTP/2", "HTTP/2 200\r\n\r\n"],
    ["an impossible status", "HTTP/1.1 999 Odd\r\n\r\n"],
    ["a field without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"],
    ["a field without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello"],
    ["a folded field", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"],
    ["an octet of control", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"],
    ["an unasked change of protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"],
    ["an early end", "HTTP/1.1 200 OK\r\nX: y\r\n"],
    ["nothing", ""],
  ])("with %s is a bad response", async (_, reply) => expect(await outcome(reply)).toBe("bad_response"));

  test("is counted, and its fields are joined by name", async () => {
    const head = "HTTP/1.1 402 Payment Required\r\nVary: a\r\nvary:\t b \r\n\r\n";
    using server = await startRawServer((socket) => socket.end(head));
    const reply = await client().send(`http://127.0.0.1:${server.port}/`);
    expect(reply).toMatchObject({ ok: true, status: 402, headBytes: head.length });
    expect(reply.ok && reply.headers.get("vary")).toBe("a, b");
  });
});

describe("time", () => {
  const short = {
    ...LIMITS,
    lookupTimeoutMs: 300,
    connectTimeoutMs: 300,
    headTimeoutMs: 300,
    idleTimeoutMs: 300,
    totalTimeoutMs: 1500,
  };
  const within = async (answer: (socket: Socket) => void, limits = short): Promise<string> => {
    const started = performance.now();
    const reason = await outcome(answer, {}, { limits });
    return `${reason} ${performance.now() - started < 1300 ? "soon" : "late"}`;
  };
  test("for the head is bounded, however steadily it drips", async () => {
    expect(await within(() => {})).toBe("head_timeout soon");
    expect(await within((socket) => drip(socket, "HTTP/1.1 200 OK\r\nX: y\r\n", 20))).toBe(
      "head_timeout soon",
    );
  });

  test("between two parts of the body is bounded", async () => {
    expect(await within((socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\nx"))).toBe("body_timeout soon");
    const half = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5";
    expect(await within((socket) => void socket.write(half))).toBe("body_timeout soon");
  });

  test("in all is bounded, however steadily it drips", async () => {
    const slow = (socket: Socket): void => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      drip(socket, "x", 50);
    };
    expect(await within(slow, { ...short, totalTimeoutMs: 600 })).toBe("total_timeout soon");
  });

  test("for the look-up is bounded", async () => {
    const mute = createHttpClient(
      { lookUp: () => new Promise(() => {}), clock: systemClock },
      { limits: short },
    );
    expect(await mute.send("https://example.com/")).toMatchObject({ ok: false, reason: "dns_timeout" });
  });

  test("for the connection is bounded", async () => {
    const mute = createHttpClient(
      {
        lookUp: async () => ({ ok: true, addresses: ["8.8.8.8", "8.8.4.4"] }),
        clock: systemClock,
        connect: () => new Promise(() => {}),
      },
      { limits: short },
    );
    expect(await mute.send("https://example.com/")).toMatchObject({ ok: false, reason: "connect_timeout" });
  });

  test("ends with the caller's signal, at every stage, and the connection with it", async () => {
    for (const reply of ["", "HTTP/1.1 200 OK\r\n\r\n"]) {
      const closed = Promise.withResolvers<void>();
      const controller = new AbortController();
      const reason = await outcome(
        (socket) => {
          socket.on("close", () => closed.resolve());
          socket.write(reply);
          setTimeout(() => controller.abort(), 20);
        },
        { signal: controller.signal },
      );
      expect(reason).toBe("aborted");
      await closed.promise;
    }
    expect(await outcome("", { signal: AbortSignal.abort() })).toBe("aborted");
  });

  test("a reply that nobody reads is ended by the time in all", async () => {
    const closed = Promise.withResolvers<void>();
    using server = await startRawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\n\r\nx");
    });
    const limits = { ...short, totalTimeoutMs: 1000 };
    const reply = await client({ limits }).open(`http://127.0.0.1:${server.port}/`);
    expect(reply.ok).toBe(true);
    await closed.promise;
    if (reply.ok) await expect(reply.body.next()).rejects.toThrow(OutgoingError);
  });
});

describe("a stream", () => {
  test("is read as it is asked for: a slow reader holds up the sender, not the memory", async () => {
    let sent = 0;
    using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const chunk = Buffer.alloc(65_536);
      const go = (): void => {
        while (socket.writable) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", go);
        }
      };
      go();
    });
    const limits = {
      ...LIMITS,
      bodyBytesMax: Number.POSITIVE_INFINITY,
      totalTimeoutMs: Number.POSITIVE_INFINITY,
    };
    const reply = await client({ limits }).open(`http://127.0.0.1:${server.port}/`);
    if (!reply.ok) throw new Error(reply.message);
    let taken = 0;
    for await (const part of reply.body) {
      taken += part.length;
      if (taken > 4 * 1024 * 1024) break;
    }
    // What the two kernels' buffers hold is all that is ahead of the reader.
    expect(sent - taken).toBeLessThan(32 * 1024 * 1024);
  });

  test("that is let go closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    using server = await startRawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\n\r\nx");
    });
    const reply = await client().open(`http://127.0.0.1:${server.port}/`);
    if (reply.ok) reply.cancel();
    await closed.promise;
  });
});

describe("a request", () => {
  async function sent(request: OutgoingRequest, rules: OutgoingRules = {}): Promise<string> {
    using server = await startRawServer((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    const reply = await client(rules).send(`http://127.0.0.1:${server.port}/a%20b?c=d#e`, request);
    if (!reply.ok) return reply.reason;
    return (server.requests[0] ?? "").replaceAll(String(server.port), "PORT");
  }

  test("says what it must", async () => {
    expect(await sent({}, { userAgent: "assay-scan (+https://example.com)" })).toBe(
      "GET /a%20b?c=d HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nuser-agent: assay-scan (+https://example.com)\r\n" +
        "accept: */*\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n",
    );
    expect(await sent({ method: "POST" })).toContain("content-length: 0\r\n\r\n");
    const posted = await sent({ method: "POST", headers: { "Content-Type": "text/plain" }, body: "grüße" });
    expect(posted).toContain("content-type: text/plain\r\ncontent-length: 7\r\n\r\n");
  });

  test.each([
    [{ headers: { "X-A": "b\r\nX-B: c" } }],
    [{ headers: { "X-A\r\nX-B": "c" } }],
    [{ headers: { "X A": "b" } }],
    [{ headers: { "X-A": "b\u2028c" } }],
    [{ headers: { Host: "other.example" } }],
    [{ headers: { "Content-Length": "5" } }],
    [{ headers: { "Transfer-Encoding": "chunked" } }],
    [{ method: "GET / HTTP/1.1\r\nX: y" }],
    [{ method: "CONNECT" }],
  ])("that would say more than one thing is not sent: %j", async (request) => {
    expect(await sent(request)).toBe("bad_request");
  });

  test("of some megabytes arrives whole", async () => {
    const body = Buffer.alloc(3_000_000, "abc");
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => new Response(String((await request.arrayBuffer()).byteLength)),
    });
    const reply = await client().send(`http://127.0.0.1:${server.port}/`, { method: "POST", body });
    expect(reply.ok && Buffer.from(reply.body).toString()).toBe("3000000");
    server.stop(true);
  });
});
