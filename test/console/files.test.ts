import { describe, expect, test } from "bun:test";
import { gzipSync } from "bun";
import { PICTURES } from "../../src/docs/pictures.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";

const server = await startFileServer();

const FILES = ["/console", "/console/page.js", "/console/list-reader.js", "/console/page.css"];
const COMPRESSED_BYTES_MAX = 150_000;
const PICTURE_BYTES_MAX = 60_000;

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

test(`the documentation shows every view at both widths: at most ${PICTURE_BYTES_MAX} bytes each, a megabyte in all`, async () => {
  const page = await (await server.call("/docs/console")).text();
  const shown = [...page.matchAll(/<img [^>]*src="(\/docs\/pictures\/[\w-]+\.webp)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(shown.toSorted()).toEqual(
    Object.keys(PICTURES)
      .map((name) => `/docs/pictures/${name}.webp`)
      .toSorted(),
  );
  const views = new Set(shown.map((path) => path.replace(/-\d+\.webp$/, "")));
  expect([views.size, shown.length]).toEqual([12, 24]);
  let total = 0;
  for (const path of shown) {
    const reply = await server.call(path);
    const bytes = await reply.bytes();
    const kind = [
      reply.status,
      reply.headers.get("content-type"),
      Buffer.from(bytes.subarray(8, 12)).toString(),
    ];
    expect([path, ...kind]).toEqual([path, 200, "image/webp", "WEBP"]);
    expect([path, bytes.length <= PICTURE_BYTES_MAX]).toEqual([path, true]);
    total += bytes.length;
  }
  expect(total).toBeLessThanOrEqual(1_000_000);
});

test("what the page names is kept for good, by a name that changes with it", async () => {
  const html = await (await server.call("/console")).text();
  const named = [...html.matchAll(/ (?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(named.length).toBe(2);
  for (const path of named) {
    const kept = async (asked: string) => (await server.call(asked)).headers.get("cache-control");
    expect([path, await kept(path)]).toEqual([path, "max-age=31536000, immutable"]);
    expect(await kept(path.replace(/\?.*/, ""))).toBe("no-cache");
    expect(await kept(`${path}0`)).toBe("no-cache");
  }
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
