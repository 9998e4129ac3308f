import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ERRORS } from "../../src/contract/errors.ts";
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

  test.each(ASSETS)("%s is the same for those who take no compression", async (path) => {
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

  test("/ sends a browser to /docs, and is nothing to others", async () => {
    const browser = await fetch(`${server.url}/`, {
      headers: { Accept: "text/html,*/*;q=0.8" },
      redirect: "manual",
    });
    expect([browser.status, browser.headers.get("location")]).toEqual([302, "/docs"]);
    expect(await refusalOf(await server.call("/"))).toBe("404 not_found");
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
      await browser.open(`${server.url}/docs/reference`);
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
      await browser.open(`${server.url}/docs/reference`);
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

  test(
    "the search finds iban, the key stays in the tab across a reload, and is in the samples",
    async () => {
      await using browser = await startBrowser(CHROMIUM ?? "");
      await browser.open(`${server.url}/docs/first-batch`);
      await browser.until(loaded("/docs/first-batch"));
      await browser.evaluate(
        `{ const search = document.getElementById("search"); search.value = "iban"; search.dispatchEvent(new Event("input")); }`,
      );
      await browser.until('document.querySelectorAll("#found a").length > 0');
      const links = await browser.evaluate<string[]>(
        '[...document.querySelectorAll("#found a")].map((link) => link.getAttribute("href"))',
      );
      expect(links.some((link) => link.startsWith("/docs/identity"))).toBe(true);

      const key = "asy_someKeyOfTheReader";
      await browser.evaluate(
        `{ const field = document.getElementById("key"); field.value = "${key}"; field.dispatchEvent(new Event("input")); }`,
      );
      await browser.open(`${server.url}/docs/idempotency`);
      await browser.until(loaded("/docs/idempotency"));
      const [samples, kept, local] = await browser.evaluate<string[]>(
        '[document.querySelector("article").textContent, document.getElementById("key").value, JSON.stringify({ ...localStorage })]',
      );
      expect(samples).toContain(`Bearer ${key}`);
      expect(samples).toContain(server.url);
      expect([kept, local]).toEqual([key, "{}"]);
      expect(browser.complaints()).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );

  test.each([390, 1366])(
    "no page is wider than a screen of %d pixels",
    async (width) => {
      await using browser = await startBrowser(CHROMIUM ?? "");
      await browser.resize(width, 844);
      const paths = await (async () => {
        const html = await (await server.call("/docs")).text();
        return new Set([...html.matchAll(/href="(\/docs[\w/-]*)"/g)].map(([, path = ""]) => path));
      })();
      expect(paths.size).toBeGreaterThan(15);
      for (const path of paths) {
        await browser.open(server.url + path);
        await browser.until(loaded(path));
        if (path === "/docs/reference")
          await browser.until('document.querySelectorAll(".opblock").length > 0');
        const [page, screen] = await browser.evaluate<number[]>(
          "[document.documentElement.scrollWidth, innerWidth]",
        );
        expect([path, screen]).toEqual([path, width]);
        expect([path, (page ?? 0) <= width]).toEqual([path, true]);
        if (SHOTS !== undefined)
          await Bun.write(`${SHOTS}/${width}${path.replaceAll("/", "-")}.png`, await browser.screenshot());
      }
    },
    PAGE_TIMEOUT_MS,
  );
});

/** A folder for pictures of the pages, to look at. */
const SHOTS = process.env.DOCS_SHOTS;

/** The page of this path is there, and its scripts have run. */
function loaded(path: string): string {
  return `location.pathname === "${path}" && document.readyState === "complete"`;
}

/** Types into a field that React looks after. */
function typed(selector: string, text: string): string {
  return `{
    const field = document.querySelector(${JSON.stringify(selector)});
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(field, ${JSON.stringify(text)});
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }`;
}
