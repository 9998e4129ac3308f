import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { createUpstream, type UpstreamSettings, waitMsOf } from "../../src/directory/upstream/upstream.ts";
import { UpstreamError } from "../../src/directory/upstream/upstream-limits.ts";
import { isPublicAddress } from "../../src/dns/public-address.ts";
import type { AddressLookup } from "../../src/net/address-lookup.ts";
import { connect } from "../../src/net/connection.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { START, TEST_LIMITS, testClock } from "../support/directory.ts";

type Options = Partial<UpstreamSettings> & {
  readonly lookUp?: AddressLookup;
};

/** A look-up that knows these addresses for every host. */
function addresses(...list: string[]): AddressLookup {
  return async () => ({ ok: true, addresses: list });
}

function upstreamAt(baseUrl: string, options: Options = {}) {
  return createUpstream(
    { baseUrl, allowPrivate: true, allowRedirects: false, limits: TEST_LIMITS, ...options },
    { lookUp: options.lookUp ?? addresses("127.0.0.1"), clock: systemClock },
  );
}

async function take(baseUrl: string, options: Options = {}): Promise<string> {
  const reply = await upstreamAt(baseUrl, options).get("/x", {});
  const parts: Uint8Array[] = [];
  for await (const part of reply.body) parts.push(part);
  return `${reply.status} ${Buffer.concat(parts)}`;
}

/** What went wrong, as the operator reads it. */
async function fault(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UpstreamError) return error.message;
    throw error;
  }
  return "nothing";
}

function serve(answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A server below HTTP: says what a connection gets once it has asked. */
async function serveRaw(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => resolve());
  await promise;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    sockets,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe("a body", () => {
  test("is read plain and compressed", async () => {
    using plain = serve(() => new Response("hello"));
    expect(await take(plain.url)).toBe("200 hello");
    using packed = serve(() => new Response(gzipSync("hello"), { headers: { "Content-Encoding": "gzip" } }));
    expect(await take(packed.url)).toBe("200 hello");
  });

  test("is aborted past the limit of raw bytes", async () => {
    using server = serve(() => new Response(new Uint8Array(TEST_LIMITS.rawBytesMax + 1)));
    expect(await fault(take(server.url))).toBe(`the body passes ${TEST_LIMITS.rawBytesMax} bytes`);
  });

  test("that inflates without end is aborted at the limit, not after it", async () => {
    const bomb = gzipSync(new Uint8Array(200 * 1024 * 1024));
    using server = serve(() => new Response(bomb, { headers: { "Content-Encoding": "gzip" } }));
    const before = process.memoryUsage().rss;
    expect(await fault(take(server.url))).toBe(
      `the body passes ${TEST_LIMITS.inflatedBytesMax} bytes inflated`,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("of corrupt or truncated gzip is an error", async () => {
    const packed = gzipSync(Buffer.from(Array.from({ length: 20_000 }, (_, n) => n % 251)));
    for (const bytes of [packed.subarray(0, packed.length - 20), Buffer.from("no gzip at all")]) {
      using server = serve(() => new Response(bytes, { headers: { "Content-Encoding": "gzip" } }));
      expect(await fault(take(server.url))).toBe("broken gzip");
    }
  });

  test("in another coding is refused", async () => {
    using server = serve(() => new Response("x", { headers: { "Content-Encoding": "br" } }));
    expect(await fault(take(server.url))).toBe("unasked content coding br");
  });

  test("that is truncated is an error", async () => {
    using server = await serveRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
    );
    expect(await fault(take(server.url))).toBe("the body was cut off");
  });
});

describe("time", () => {
  test("for the first answer is bounded", async () => {
    using server = await serveRaw(() => {});
    expect(await fault(take(server.url))).toBe("no answer within 300 ms");
  });

  test("between two chunks is bounded", async () => {
    using server = await serveRaw((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
    );
    expect(await fault(take(server.url))).toBe("nothing more came within 300 ms");
  });

  test("in total is bounded, however steadily bytes arrive", async () => {
    using server = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
      const drip = setInterval(() => socket.write("x"), 50);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await fault(take(server.url))).toBe("not done within 900 ms");
  });
});

describe("the address", () => {
  test("of a host that cannot be resolved or reached is an error", async () => {
    const lookUp: AddressLookup = async () => ({ ok: false, reason: "dns_not_found" });
    expect(await fault(take("http://gone.example", { lookUp }))).toBe("gone.example cannot be resolved");
    using server = serve(() => new Response("x"));
    server[Symbol.dispose]();
    expect(await fault(take(server.url))).toBe(`no connection to ${new URL(server.url).host}`);
  });

  test("is refused where it is private, before anything is sent", async () => {
    let asked = 0;
    using server = serve(() => {
      asked += 1;
      return new Response("secret");
    });
    const refusals = [
      take(server.url, { allowPrivate: false }),
      take(`http://feed.example:${server.port}`, {
        allowPrivate: false,
        lookUp: addresses("93.184.216.34", "::1"),
      }),
      take(`http://0x7f000001:${server.port}`, { allowPrivate: false }),
      take(`http://[::ffff:127.0.0.1]:${server.port}`, { allowPrivate: false }),
    ];
    for (const refusal of refusals) expect(await fault(refusal)).toContain("has the private address");
    expect(await fault(take(`http://localhost:${server.port}`, { allowPrivate: false }))).toBe(
      "localhost is no public name; DIRECTORY_ALLOW_PRIVATE permits that",
    );
    expect(asked).toBe(0);
  });

  test("that was checked is the one connected to, under the host's name", async () => {
    using server = serve((request) => new Response(request.headers.get("host")));
    let answers = 0;
    const lookUp: AddressLookup = async () => {
      answers += 1;
      return { ok: true, addresses: answers === 1 ? ["127.0.0.1"] : ["10.0.0.1"] };
    };
    expect(await take(`http://feed.example:${server.port}`, { lookUp })).toBe(
      `200 feed.example:${server.port}`,
    );
    expect(answers).toBe(1);
  });

  test("is the next one where the first does not answer", async () => {
    using server = serve(() => new Response("x"));
    const lookUp = addresses("127.0.0.2", "127.0.0.1");
    expect(await take(`http://feed.example:${server.port}`, { lookUp })).toBe("200 x");
  });

  test("counts as private in every reserved block and spelling", () => {
    const isPrivate = (address: string) => !isPublicAddress(address);
    const inside =
      "127.0.0.1 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 " +
      "192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 :: ::1 fe80::1 fec0::1 fc00::1 fd12::1 ff02::1 2001:db8::1 " +
      "::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: nonsense";
    for (const address of inside.split(" ")) expect([address, isPrivate(address)]).toEqual([address, true]);
    const outside = "8.8.8.8 93.184.216.34 172.32.0.1 100.128.0.1 2606:4700::1 2a00::1 ::ffff:8.8.8.8";
    for (const address of outside.split(" ")) expect([address, isPrivate(address)]).toEqual([address, false]);
  });
});

describe("a redirect", () => {
  const to = (location: string, status = 302) =>
    new Response(null, { status, headers: { Location: location } });
  test("is refused unless the operator allows it", async () => {
    using server = serve((request) =>
      new URL(request.url).pathname === "/x" ? to("/y") : new Response("there"),
    );
    expect(await fault(take(server.url))).toContain("DIRECTORY_ALLOW_REDIRECTS");
    expect(await take(server.url, { allowRedirects: true })).toBe("200 there");
  });

  test("that is allowed is still checked: private addresses, endless chains, other schemes", async () => {
    using outer = serve(() => to(`http://inner.example:${outer.port}/`));
    const lookUp: AddressLookup = async (host) => {
      return { ok: true, addresses: [host === "inner.example" ? "10.0.0.1" : "93.184.216.34"] };
    };
    const upstream = createUpstream(
      {
        baseUrl: `http://outer.example:${outer.port}`,
        allowPrivate: false,
        allowRedirects: true,
        limits: TEST_LIMITS,
      },
      { lookUp, clock: systemClock, connect: (options) => connect({ ...options, address: "127.0.0.1" }) },
    );
    expect(await fault(upstream.get("/", {}))).toBe(
      "inner.example has the private address 10.0.0.1; DIRECTORY_ALLOW_PRIVATE permits that",
    );
    using loop = serve(() => to("/again"));
    expect(await fault(take(loop.url, { allowRedirects: true }))).toBe("more than 3 redirects");
    using file = serve(() => to("file:///etc/passwd"));
    expect(await fault(take(file.url, { allowRedirects: true }))).toBe("redirected to nowhere");
  });
});

test("Retry-After is read in seconds and as a date, and is an hour at most", () => {
  const read = (value: string) => waitMsOf(new Headers({ "Retry-After": value }), START);
  expect(read("120")).toBe(120_000);
  expect(read("0")).toBe(0);
  expect(read("999999")).toBe(3_600_000);
  expect(read(new Date(START + 90_000).toUTCString())).toBe(90_000);
  expect(read(new Date(START - 90_000).toUTCString())).toBe(0);
  expect(read("soon")).toBeNull();
  expect(read(new Date(START + 90_000).toISOString())).toBeNull();
  expect(waitMsOf(new Headers(), testClock().now())).toBeNull();
});
