import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "bun";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const FILES = ["/console", "/console/page.js", "/console/list-reader.js", "/console/page.css"];
const COMPRESSED_BYTES_MAX = 150_000;

describe("200", () => {
  test.each(FILES)(
    "%s needs no key and forbids what is inline, evaluated or of another origin",
    async (path) => {
      const { status, headers } = await server.call(path);
      const policy = headers.get("content-security-policy") ?? "";
      expect(status).toBe(200);
      expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).not.toContain("unsafe");
      expect(policy).not.toMatch(/https?:|\*|data:|blob:/);
      expect(headers.get("etag")).toMatch(/^"[0-9a-z]+-gzip"$/);
    },
  );

  test("the page has nothing inline, and names only what this server has", async () => {
    const html = await (await server.call("/console")).text();
    expect(html).not.toMatch(/<style|style=|<script>|javascript:| on\w+=/);
    const named = [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(2);
    for (const path of named) expect([path, (await server.call(path)).status]).toEqual([path, 200]);
  });

  test(`the page and all its files are at most ${COMPRESSED_BYTES_MAX} bytes compressed`, async () => {
    const sizes = await Promise.all(
      FILES.map(
        async (path) => gzipSync(Buffer.from(await (await server.call(path)).arrayBuffer())).byteLength,
      ),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    console.log(
      `console: ${total} bytes compressed (${FILES.map((path, at) => `${path} ${sizes[at]}`).join(", ")})`,
    );
    expect(total).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
  });
});

describe("304", () => {
  test.each(FILES)("%s is not sent again to those who have it", async (path) => {
    const etag = (await server.call(path)).headers.get("etag") ?? "";
    expect((await server.call(path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  });
});

describe("404", () => {
  test("CONSOLE=false serves none of it", async () => {
    await using without = await startTestServer({ environment: { CONSOLE: "false" } });
    for (const path of FILES) expect(await refusalOf(await without.call(path))).toBe("404 not_found");
  });
});
