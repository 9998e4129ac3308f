import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHROMIUM, startBrowser } from "../support/browser.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";
import { readSpecification } from "../support/specification.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A browser on a busy machine takes its time. */
const PAGE_TIMEOUT_MS = 60_000;
const ASSETS = ["/docs", "/docs/start.js", "/docs/swagger-ui.js", "/docs/swagger-ui.css", "/openapi.json"];

describe("200", () => {
  test.each(ASSETS)("%s needs no key and names its type, its tag and its policy", async (path) => {
    const { status, headers } = await server.call(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toEndWith("charset=utf-8");
    expect(headers.get("etag")).toMatch(/^"[0-9a-z]+-gzip"$/);
    expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self';");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(ASSETS)("%s is the same for those who take no compression", async (path) => {
    const plain = await server.call(path, { headers: { "Accept-Encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(await (await server.call(path)).text());
  });

  test("the page names nothing outside this server", async () => {
    const html = await (await server.call("/docs")).text();
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source);
    expect(sources).toEqual([
      "data:,",
      "/docs/swagger-ui.css",
      "/openapi.json",
      "/docs/swagger-ui.js",
      "/docs/start.js",
    ]);
  });

  test("without metrics the specification has none", async () => {
    await using quiet = await startTestServer({ environment: { METRICS: "off" } });
    const { operations } = await readSpecification(quiet);
    expect(operations.map(({ path }) => path)).not.toContain("/metrics");
    expect((await quiet.call("/metrics")).status).toBe(404);
  });
});

describe("304", () => {
  test.each(ASSETS)("%s is not sent again to those who have it", async (path) => {
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

if (CHROMIUM === null) console.log("docs: no chromium here; the tests that look at the page are skipped");

describe.skipIf(CHROMIUM === null)("in a browser", () => {
  test(
    "every operation is drawn, and nothing is fetched from elsewhere",
    async () => {
      await using browser = await startBrowser(CHROMIUM ?? "");
      await browser.open(`${server.url}/docs`);
      await browser.until('document.querySelectorAll(".opblock").length > 0');
      const drawn = await browser.evaluate<string[]>(
        '[...document.querySelectorAll(".opblock")].map((block) => block.querySelector(".opblock-summary-method").innerText + " " + block.querySelector(".opblock-summary-path").dataset.path)',
      );
      const { operations } = await readSpecification(server);
      expect(drawn.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
      expect(await browser.evaluate('document.querySelectorAll(".errors-wrapper").length')).toBe(0);
      const elsewhere = browser
        .requested()
        .filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"));
      expect(elsewhere).toEqual([]);
      expect(browser.complaints()).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    "a reader tries a call with his own key",
    async () => {
      const key = await server.signUp();
      await using browser = await startBrowser(CHROMIUM ?? "");
      await browser.open(`${server.url}/docs`);
      await browser.until('document.querySelector(".btn.authorize") !== null');
      await browser.evaluate('document.querySelector(".btn.authorize").click()');
      await browser.until('document.querySelector(".auth-container input") !== null');
      await browser.evaluate(typed(".auth-container input", key));
      await browser.evaluate('document.querySelector(".auth-btn-wrapper .authorize").click()');
      await browser.until('document.querySelector(".auth-container input") === null');
      await browser.evaluate('document.querySelector(".auth-btn-wrapper .btn-done").click()');
      await browser.until('document.querySelector(".auth-container") === null');
      const block = "#operations-Account-getAccount";
      await browser.evaluate(`document.querySelector("${block} .opblock-summary-control").click()`);
      // The page resolves the operation piece by piece; it is whole when its replies are drawn.
      await browser.until(`document.querySelector("${block} .responses-inner .model-example") !== null`);
      await browser.evaluate(`document.querySelector("${block} .btn.execute").click()`);
      await browser.until(`document.querySelector("${block} .live-responses-table") !== null`);
      const answer = await browser.evaluate<string>(
        `document.querySelector("${block} .live-responses-table").innerText`,
      );
      expect(answer).toContain("200");
      expect(answer).toContain('"plan": "scale"');
      expect(answer).toContain("x-request-id: req_");
      const left = await browser.evaluate<string>("location.href + JSON.stringify({ ...localStorage })");
      expect(left).not.toContain(key);
      expect(browser.complaints()).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );
});

/** Types into a field that React looks after. */
function typed(selector: string, text: string): string {
  return `{
    const field = document.querySelector(${JSON.stringify(selector)});
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(field, ${JSON.stringify(text)});
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }`;
}
