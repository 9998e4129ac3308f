import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../src/contract/errors.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";
import { readSpecification } from "../support/specification.ts";

const server = await startFileServer();

const ASSETS = [
  "/docs",
  "/docs/first-batch",
  "/docs/errors/bad_key",
  "/docs/reference",
  "/docs/reference.js",
  "/docs/site.js",
  "/docs/site.css",
  "/docs/search.json",
  "/docs/swagger-ui.js",
  "/docs/swagger-ui.css",
  "/favicon.svg",
  "/favicon.ico",
  "/openapi.json",
];

describe("200", () => {
  test.each(ASSETS)("%s needs no key and names its type, its tag and its policy", async (path) => {
    const { status, headers } = await server.call(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toEndWith("charset=utf-8");
    expect(headers.get("etag")).toMatch(/^"[0-9a-z]+-gzip"$/);
    expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self';");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(ASSETS)("%s is the same without compression", async (path) => {
    const plain = await server.call(path, { headers: { "Accept-Encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(await (await server.call(path)).text());
  });

  test("every page names only what this server has", async () => {
    const seen = new Set<string>();
    const queue = ["/docs"];
    for (const path of queue) {
      const html = await (await server.call(path)).text();
      const sources = [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, source = ""]) => source);
      for (const source of sources.filter((each) => !each.startsWith("#"))) {
        const [target = ""] = source.split("#");
        if (seen.has(target)) continue;
        seen.add(target);
        // Samples of the text are no links of the page.
        expect([path, target]).toEqual([path, expect.stringMatching(/^\/(?:docs|favicon|openapi)/)]);
        const reply = await server.call(target);
        expect([target, reply.status]).toEqual([target, 200]);
        if (reply.headers.get("content-type")?.startsWith("text/html")) queue.push(target);
      }
    }
    expect(queue.length).toBeGreaterThan(15);
  });

  test("every error code has a page", async () => {
    for (const code of Object.keys(ERRORS)) {
      const reply = await server.call(`/docs/errors/${code}`);
      expect([code, reply.status]).toEqual([code, 200]);
      expect(await reply.text()).toContain(`${code}</a></h1>`);
    }
  });

  test("/ redirects a browser to /docs, and is 404 for others", async () => {
    const browser = await fetch(`${server.url}/`, {
      headers: { Accept: "text/html,*/*;q=0.8" },
      redirect: "manual",
    });
    expect([browser.status, browser.headers.get("location")]).toEqual([302, "/docs"]);
    expect(await refusalOf(await server.call("/"))).toBe("404 not_found");
    expect(await (await server.call("/v2/nothing")).text()).toContain("/docs lists what there is.");
  });

  test("without metrics the specification has none", async () => {
    await using quiet = await startTestServer({ environment: { METRICS: "off" } });
    const { operations } = await readSpecification(quiet);
    expect(operations.map(({ path }) => path)).not.toContain("/metrics");
    expect((await quiet.call("/metrics")).status).toBe(404);
  });
});

describe("304", () => {
  test.each(ASSETS)("%s is not sent again for its own tag", async (path) => {
    const etag = (await server.call(path)).headers.get("etag") ?? "";
    const again = await server.call(path, { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
  });
});

describe("405", () => {
  test.each(ASSETS)("%s takes GET and HEAD only", async (path) => {
    const reply = await server.call(path, { body: {} });
    expect(reply.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(await refusalOf(reply)).toBe("405 method_not_allowed");
  });
});
