import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { replyEncoding } from "../../src/http/compression.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer();
  key = await server.signUp("scale");
});
afterAll(() => server[Symbol.asyncDispose]());

type Raw = { readonly status: number; readonly headers: Headers; readonly bytes: Buffer };

/** A reply as it is on the wire. */
async function raw(path: string, accept: string | null, options: RequestInit = {}): Promise<Raw> {
  const headers = new Headers(options.headers);
  headers.set("accept-encoding", accept ?? "identity");
  headers.set("authorization", `Bearer ${key}`);
  const reply = await fetch(server.url + path, { ...options, headers, decompress: false });
  return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
}

function plain({ headers, bytes }: Raw): Buffer {
  const encoding = headers.get("content-encoding");
  if (encoding === null) return bytes;
  return encoding === "gzip" ? gunzipSync(bytes) : zstdDecompressSync(bytes);
}

function batchOf(count: number, headers: { readonly [name: string]: string } = {}): RequestInit {
  const emails = Array.from({ length: count }, (_, n) => `person.${n}@d${n % 7}.many.com`);
  return {
    method: "POST",
    body: JSON.stringify({ emails }),
    headers: { "content-type": "application/json", ...headers },
  };
}

describe("the negotiated encoding", () => {
  test.each([
    ["gzip", "gzip"],
    ["zstd", "zstd"],
    ["gzip, deflate, br, zstd", "gzip"],
    ["gzip;q=0.5, zstd;q=0.8", "zstd"],
    ["zstd;q=0.5, gzip;q=0.8", "gzip"],
    ["GZIP;Q=0.5", "gzip"],
    ["*", "gzip"],
    ["gzip;q=0, *", null],
    ["gzip;q=0, *, zstd;q=0.1", "zstd"],
    ["gzip;q=0", null],
    ["br, deflate", null],
    ["", null],
    ["identity", null],
    ["identity;q=1, gzip;q=0.5", null],
    ["identity;q=0.5, gzip;q=0.9", "gzip"],
    ["gzip;q=nonsense", null],
  ] as const)("of %j is %p", (accept, encoding) => {
    const request = new Request("http://host/", { headers: { "accept-encoding": accept } });
    expect(replyEncoding(request)).toBe(encoding);
  });

  test("of a call that names no encoding is null", () => {
    expect(replyEncoding(new Request("http://host/"))).toBeNull();
  });
});

describe("a reply of 1 KB and more", () => {
  test.each([
    "/openapi.json",
    "/docs/swagger-ui.css",
    "/v1/directory?limit=100",
    "/v1/directory/export",
    "/metrics",
  ])("%s comes in what is asked for", async (path) => {
    const asIs = await raw(path, null);
    expect(asIs.bytes.byteLength).toBeGreaterThan(1024);
    expect(asIs.headers.get("vary")).toContain("Accept-Encoding");
    expect(asIs.headers.has("content-encoding")).toBe(false);
    for (const encoding of ["gzip", "zstd"]) {
      const reply = await raw(path, encoding);
      expect(reply.headers.get("content-encoding")).toBe(encoding);
      expect(reply.headers.get("vary")).toContain("Accept-Encoding");
      expect(reply.bytes.byteLength).toBeLessThan(asIs.bytes.byteLength / 2);
      if (path !== "/metrics") expect(plain(reply).equals(asIs.bytes)).toBe(true);
    }
  });

  test("has a weak ETag once it is compressed, which matches for a 304 in any encoding", async () => {
    const { headers } = await raw("/v1/changes?limit=100", "gzip");
    const tag = headers.get("etag") ?? "";
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(tag).toStartWith("W/");
    for (const accept of ["gzip", "zstd", null]) {
      const again = await raw("/v1/changes?limit=100", accept, { headers: { "if-none-match": tag } });
      expect(again.status).toBe(304);
      expect(again.bytes.byteLength).toBe(0);
      expect(again.headers.get("vary")).toContain("Accept-Encoding");
      if (accept !== null) expect(again.headers.get("etag")).toBe(tag);
    }
  });

  test("has the same headers by HEAD", async () => {
    for (const path of ["/openapi.json", "/v1/directory/export", "/v1/changes?limit=100"]) {
      for (const accept of ["gzip", "zstd", null]) {
        const get = await raw(path, accept);
        const head = await raw(path, accept, { method: "HEAD" });
        for (const name of ["content-encoding", "vary", "content-type", "etag"]) {
          expect([path, accept, head.headers.get(name)]).toEqual([path, accept, get.headers.get(name)]);
        }
        expect([`${plain(get).byteLength}`, `${get.bytes.byteLength}`, null]).toContain(
          head.headers.get("content-length"),
        );
        if (accept !== null) expect(head.headers.get("content-length")).not.toBe(`${plain(get).byteLength}`);
      }
    }
  });
});

test("a smaller reply, a refusal too, is not compressed", async () => {
  for (const path of ["/healthz", "/v1/email/verify?email=a%40good.com", "/v1/nothing"]) {
    const reply = await raw(path, "gzip, zstd");
    expect(reply.headers.has("content-encoding")).toBe(false);
    expect(() => JSON.parse(reply.bytes.toString())).not.toThrow();
  }
});

describe("a batch", () => {
  test.each([
    ["whole", 50],
    ["streamed", 20_000],
  ])("that is answered %s is the same in every encoding", async (_, count) => {
    const asIs = await raw("/v1/email/batch", null, batchOf(count));
    for (const encoding of ["gzip", "zstd"]) {
      for (const accept of ["application/json", "application/x-ndjson"]) {
        const reply = await raw("/v1/email/batch", encoding, batchOf(count, { accept }));
        expect(reply.headers.get("content-encoding")).toBe(encoding);
        const text = plain(reply).toString();
        if (accept === "application/json") expect(text).toBe(asIs.bytes.toString());
        else expect(text.trimEnd().split("\n")).toHaveLength(count + 1);
        expect(reply.bytes.byteLength).toBeLessThan(text.length / 4);
      }
    }
  });

  test("kept under an Idempotency-Key is replayed in the negotiated encoding", async () => {
    const options = batchOf(300, { "idempotency-key": "kept" });
    const first = await raw("/v1/email/batch", "gzip", options);
    for (const accept of ["zstd", null, "gzip"]) {
      const again = await raw("/v1/email/batch", accept, options);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.headers.get("content-encoding")).toBe(accept);
      expect(plain(again).equals(plain(first))).toBe(true);
    }
  });
});
