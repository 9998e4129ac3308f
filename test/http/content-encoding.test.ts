import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { createBodyReader } from "../../src/http/bodies/body-reader.ts";
import { bodyEncoding, decodedParts } from "../../src/http/bodies/content-encoding.ts";
import { createZstdFrames } from "../../src/http/bodies/zstd-frames.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const LIMIT = 100_000;
const ENCODERS = [
  ["gzip", "gzip", gzipSync],
  ["gzip", "x-gzip", gzipSync],
  ["gzip", " GZIP ", gzipSync],
  ["zstd", "zstd", zstdCompressSync],
  ["deflate, the zlib format", "deflate", deflateSync],
  ["deflate, without its header", "deflate", deflateRawSync],
] as const;

/** What decodes to nothing. */
const NOTHING = [
  ["gzip", gzipSync("")],
  // A skippable frame (RFC 8878) without content.
  ["zstd", Buffer.of(0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0)],
] as const;

function request(body: Uint8Array<ArrayBuffer>, encoding: string): Request {
  return new Request("http://host/", { method: "POST", body, headers: { "content-encoding": encoding } });
}

async function readBytes(asked: Request, bytesMax: number): Promise<Uint8Array> {
  using body = await createBodyReader({ bytesMax, heldBytesMax: bytesMax }).read(asked, { tenant: "one" });
  return body.bytes;
}

/** The body in parts of one size. */
function inParts(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
}

async function decoded(bytes: Uint8Array, encoding: "gzip" | "zstd" | "deflate", size: number) {
  const parts: Uint8Array[] = [];
  for await (const part of decodedParts(inParts(bytes, size), encoding)) parts.push(part);
  return Buffer.concat(parts);
}

describe("a body in", () => {
  test.each(ENCODERS)("%s (%s) is read decoded", async (_, name, encode) => {
    const text = Buffer.from("address@example.com\n".repeat(4000));
    expect(Buffer.from(await readBytes(request(encode(text), name), LIMIT)).equals(text)).toBe(true);
  });

  test.each(ENCODERS)("%s (%s) that decodes to more than the limit is 413", async (_, name, encode) => {
    const bomb = encode(Buffer.alloc(50 * LIMIT));
    expect(bomb.byteLength).toBeLessThan(LIMIT);
    await expect(readBytes(request(bomb, name), LIMIT)).rejects.toMatchObject({ code: "payload_too_large" });
    const full = encode(Buffer.alloc(LIMIT));
    expect((await readBytes(request(full, name), LIMIT)).byteLength).toBe(LIMIT);
  });

  test.each(ENCODERS)("%s (%s) that is truncated or corrupt is a 400", async (_, name, encode) => {
    const whole = encode(Buffer.from(Array.from({ length: 3000 }, (__, n) => `${n * 7919}`).join()));
    const broken = Buffer.from(whole);
    broken.fill(0xff, 4, 60);
    for (const bytes of [whole.subarray(0, whole.byteLength - 5), whole.subarray(0, 9), broken]) {
      await expect(readBytes(request(Buffer.from(bytes), name), LIMIT)).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
  });

  test("gzip data with padding behind their end, in any parts, is read to the end of at most 1 MiB of it", async () => {
    const data = gzipSync("a,b\n".repeat(1_000));
    let takenBytes = 0;
    const padded = (bytes: number) =>
      (async function* () {
        yield data;
        for (takenBytes = 0; takenBytes < bytes; takenBytes += 65_536) yield new Uint8Array(65_536);
      })();
    const parts = await Array.fromAsync(decodedParts(padded(1_048_576), "gzip"));
    expect([Buffer.concat(parts).byteLength, takenBytes]).toEqual([4_000, 1_048_576]);
    const endless = Array.fromAsync(decodedParts(padded(Number.POSITIVE_INFINITY), "gzip"));
    await expect(endless).rejects.toMatchObject({ code: "invalid_request" });
    expect(takenBytes).toBeLessThan(2_097_152);
  });

  test("several members or frames is decoded completely", async () => {
    for (const [encoding, encode] of [
      ["gzip", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      const bytes = Buffer.concat([encode("one,"), encode("two")]);
      for (const size of [1, 3, 1000]) expect(String(await decoded(bytes, encoding, size))).toBe("one,two");
    }
  });

  test.each(ENCODERS)("%s (%s) with data after its end is a 400", async (_, name, encode) => {
    const whole = encode(Buffer.from("one,"));
    const encoding = bodyEncoding(request(whole, name));
    if (encoding === null) throw new Error("not encoded");
    // A second stream belongs to the data of the other two.
    const others = [Buffer.from("two"), ...(encoding === "deflate" ? [encode(Buffer.from("two"))] : [])];
    for (const other of others) {
      for (const size of [1, 3, 1000]) {
        const read = decoded(Buffer.concat([whole, other]), encoding, size);
        await expect(read).rejects.toMatchObject({ code: "invalid_request" });
      }
    }
  });

  test.each(NOTHING)(
    "%s without end that decodes to nothing is a 400, and read no further",
    async (encoding, nothing) => {
      const part = Buffer.concat(Array.from({ length: 4000 }, () => nothing));
      let sentBytes = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(part);
          sentBytes += part.byteLength;
          if (sentBytes > 50_000_000) controller.close();
        },
      });
      const read = Array.fromAsync(decodedParts(body, encoding));
      await expect(read).rejects.toMatchObject({ code: "invalid_request" });
      expect(sentBytes).toBeLessThan(3_000_000);
    },
  );

  test("none, or identity, is read as it is; any other encoding is 415 and named", async () => {
    const body = Buffer.from("{}");
    expect(String(Buffer.from(await readBytes(request(body, "identity"), LIMIT)))).toBe("{}");
    for (const name of ["br", "compress", "gzip, gzip", "zstd, identity"]) {
      const refused = readBytes(request(body, name), LIMIT);
      await expect(refused).rejects.toMatchObject({ code: "unsupported_media_type" });
      await expect(refused).rejects.toThrow(name);
    }
  });

  test("no bytes is empty", async () => {
    for (const name of ["gzip", "zstd", "deflate"]) {
      expect((await readBytes(request(Buffer.alloc(0), name), LIMIT)).byteLength).toBe(0);
    }
  });
});

describe("a decoder", () => {
  test("stops reading where its caller leaves", async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(gzipSync(Buffer.alloc(1_000_000)).subarray(0, 500)),
      pull: (controller) => controller.enqueue(new Uint8Array(64)),
      cancel() {
        isCancelled = true;
      },
    });
    for await (const _ of decodedParts(endless, "gzip")) break;
    expect(isCancelled).toBe(true);
  });

  test("returns what was encoded, in any chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5000 }),
        fc.constantFrom(1, 7, 1000),
        async (bytes, size) => {
          for (const [encoding, encode] of [
            ["gzip", gzipSync],
            ["zstd", zstdCompressSync],
            ["deflate", deflateSync],
          ] as const) {
            expect((await decoded(encode(bytes), encoding, size)).equals(Buffer.from(bytes))).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("the end of a zstd frame is found exactly, and nowhere before", () => {
  const samples = [
    zstdCompressSync("abc"),
    zstdCompressSync(Buffer.alloc(300_000)),
    Buffer.concat([zstdCompressSync("x"), Buffer.from("502a4d180300000061626300", "hex").subarray(0, 11)]),
    Bun.zstdCompressSync(crypto.getRandomValues(new Uint8Array(200)), { level: 19 }),
  ];
  for (const frame of samples) {
    const frames = createZstdFrames();
    frame.forEach((byte, at) => {
      if (at > 0 && at < 6) expect(frames.isAtEnd()).toBe(false);
      frames.take(Uint8Array.of(byte));
    });
    expect(frames.isAtEnd()).toBe(true);
    const short = createZstdFrames();
    short.take(frame.subarray(0, -1));
    expect(short.isAtEnd()).toBe(false);
  }
});

describe("over HTTP", () => {
  let server: TestServer;
  let key: string;
  beforeAll(async () => {
    server = await startTestServer();
    key = await server.signUp();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const post = (path: string, body: Uint8Array<ArrayBuffer>, encoding: string, headers = {}) =>
    fetch(server.url + path, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-encoding": encoding,
        ...headers,
      },
    });

  test("single calls and batches are read in every encoding", async () => {
    const single = Buffer.from(JSON.stringify({ email: "anna@good.com" }));
    const batch = Buffer.from(JSON.stringify({ emails: ["anna@good.com", "bob@good.com"] }));
    for (const [, name, encode] of ENCODERS) {
      expect((await post("/v1/email/verify", encode(single), name)).status).toBe(200);
      const reply = await post("/v1/email/batch", encode(batch), name);
      expect(((await reply.json()) as { count: number }).count).toBe(2);
    }
  });

  test("the same body under the same Idempotency-Key is the same call, encoded or not", async () => {
    const batch = Buffer.from(JSON.stringify({ emails: ["anna@good.com"] }));
    const headers = { "idempotency-key": "packed" };
    const first = await post("/v1/email/batch", gzipSync(batch), "gzip", headers);
    const second = await post("/v1/email/batch", zstdCompressSync(batch), "zstd", headers);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.text()).toBe(await first.text());
  });

  test("a decompression bomb is 413, an unknown encoding 415, and both charge nothing", async () => {
    const bomb = await post("/v1/email/verify", gzipSync(Buffer.alloc(100_000_000)), "gzip");
    expect(bomb.status).toBe(413);
    expect(bomb.headers.get("x-units-charged")).toBe("0");
    const unknown = await post("/v1/email/batch", Buffer.from("{}"), "br");
    expect(unknown.status).toBe(415);
    expect(await unknown.text()).toContain("br");
    expect(unknown.headers.get("x-units-charged")).toBe("0");
  });
});

test("bodies that inflate at once are taken one part of each in a turn, so that other calls get theirs", async () => {
  const bodies = 32;
  const body = zstdCompressSync(Buffer.alloc(1_500_000));
  let inTurn = 0;
  let most = 0;
  let isDone = false;
  const turn = () => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const decode = async () => {
    for await (const part of decodedParts(new Blob([new Uint8Array(body)]).stream(), "zstd")) {
      if (part.byteLength > 0) inTurn += 1;
    }
  };
  await Promise.all(Array.from({ length: bodies }, decode));
  isDone = true;
  expect(most).toBeWithin(1, bodies + 1);
});
