import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Browser, CHROMIUM, startBrowser } from "../support/browser.ts";
import { startFileServer } from "../support/server.ts";
import { readSpecification } from "../support/specification.ts";

const server = await startFileServer();

/** A browser on a busy machine takes its time. */
const PAGE_TIMEOUT_MS = 60_000;
const AXE = join(import.meta.dir, "../../node_modules/axe-core/axe.min.js");
const WIDTHS = [1366, 390] as const;

if (CHROMIUM === null) console.log("docs: no chromium here; the tests that look at the page are skipped");

describe.skipIf(CHROMIUM === null)("the pages in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(CHROMIUM ?? "");
  }, PAGE_TIMEOUT_MS);
  afterAll(() => browser[Symbol.asyncDispose]());

  test(
    "every operation is drawn, and nothing is fetched from elsewhere",
    async () => {
      await browser.open(`${server.url}/docs/reference`);
      await browser.until('document.querySelectorAll(".opblock").length > 0');
      const drawn = await browser.evaluate<string[]>(
        '[...document.querySelectorAll(".opblock")].map((block) => block.querySelector(".opblock-summary-method").innerText + " " + block.querySelector(".opblock-summary-path").dataset.path)',
      );
      const { operations } = await readSpecification(server);
      expect(drawn.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
      expect(await browser.evaluate('document.querySelectorAll(".errors-wrapper").length')).toBe(0);
      // The library's own elements take nothing of the page's layout: operations stand under the page's title.
      const indent = await browser.evaluate<number>(
        'document.querySelector(".opblock").getBoundingClientRect().left - document.querySelector("h1").getBoundingClientRect().left',
      );
      expect(indent).toBeLessThan(24);
      const elsewhere = browser
        .requested()
        .filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"));
      expect(elsewhere).toEqual([]);
      await browser.evaluate(await Bun.file(AXE).text());
      const pale = await browser.evaluate<string[]>(
        `axe.run("#reference .opblock-summary-method", { runOnly: { type: "rule", values: ["color-contrast"] } }).then(({ violations, passes }) => [passes.length === 0 ? "nothing was looked at" : "", ...violations.flatMap(({ nodes }) => nodes.map(({ html }) => html))].filter(Boolean))`,
      );
      expect(pale).toEqual([]);
      expect(browser.complaints()).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    "a reader can try a call with their own key",
    async () => {
      const key = await server.signUp();
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
      await browser.open(`${server.url}/docs/first-batch`);
      await browser.until(loaded("/docs/first-batch"));
      await browser.evaluate(
        `{ const search = document.getElementById("search"); search.value = "iban"; search.dispatchEvent(new Event("input")); }`,
      );
      await browser.until('document.querySelectorAll("#found a").length > 0');
      const links = await browser.evaluate<string[]>(
        '[...document.querySelectorAll("#found a")].map((link) => link.getAttribute("href"))',
      );
      expect(links[0]).toBe("/docs/identity");

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

  test(
    "a sample is copied where the browser has a clipboard, and selected where it has none",
    async () => {
      await browser.open(`${server.url}/docs/idempotency`);
      await browser.until(loaded("/docs/idempotency"));
      const press = async (clipboard: string) => {
        await browser.evaluate(
          `Object.defineProperty(navigator, "clipboard", { configurable: true, value: ${clipboard} })`,
        );
        await browser.evaluate('document.querySelector("pre .copy").click()');
        await browser.until('document.querySelector("pre .copy").textContent !== "Copy"');
        return browser.evaluate<string[]>(
          '[document.querySelector("pre .copy").textContent, getSelection().toString(), window.copied ?? ""]',
        );
      };
      const code = (await browser.evaluate<string>('document.querySelector("pre code").textContent')).trim();
      const [told, selected = ""] = await press("undefined");
      expect([told, selected.trim()]).toEqual(["Selected: press Ctrl+C", code]);
      await browser.until('document.querySelector("pre .copy").textContent === "Copy"');
      const [said, , copied = ""] = await press("{ writeText: async (text) => { window.copied = text; } }");
      expect([said, copied.trim()]).toEqual(["Copied", code]);
      expect(browser.complaints()).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    "arrow keys go through the languages of a sample, which are one stop of the keyboard",
    async () => {
      await browser.open(`${server.url}/docs/first-batch`);
      await browser.until(loaded("/docs/first-batch"));
      const stops = '[...document.querySelectorAll(".samples:first-of-type [role=tab]")]';
      const shown = `[document.activeElement.textContent, document.querySelector(".samples pre:not([hidden])").dataset.language, ${stops}.filter((tab) => tab.tabIndex === 0).length]`;
      const press = (key: string) =>
        browser.evaluate(
          `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true }))`,
        );
      await browser.evaluate(`document.querySelector('.samples [role=tab][aria-selected="true"]').focus()`);
      const seen = [await browser.evaluate(shown)];
      for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
        await press(key);
        seen.push(await browser.evaluate(shown));
      }
      const [curl, script, python] = [
        ["curl", "sh", 1],
        ["TypeScript", "ts", 1],
        ["Python", "python", 1],
      ];
      expect(seen).toEqual([curl, script, python, python, script]);
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    "tables that scroll have the keyboard's focus, and others do not",
    async () => {
      await browser.open(`${server.url}/docs/email`);
      await browser.until(loaded("/docs/email"));
      const stops =
        '[...document.querySelectorAll(".table")].map((each) => [each.scrollWidth > each.clientWidth, each.tabIndex === 0])';
      for (const width of [360, 1920]) {
        await browser.resize(width, 844);
        await browser.until(`${stops}.every(([scrolls, stops]) => scrolls === stops)`);
        expect(await browser.evaluate<boolean>(`${stops}.some(([scrolls]) => scrolls)`)).toBe(width === 360);
      }
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    `no page is wider than a screen of ${WIDTHS.join(" or ")} pixels`,
    async () => {
      const html = await (await server.call("/docs")).text();
      const paths = new Set([...html.matchAll(/href="(\/docs[\w/-]*)"/g)].map(([, path = ""]) => path));
      expect(paths.size).toBeGreaterThan(15);
      for (const path of paths) {
        await browser.open(server.url + path);
        await browser.until(loaded(path));
        if (path === "/docs/reference")
          await browser.until('document.querySelectorAll(".opblock").length > 0');
        for (const width of WIDTHS) {
          await browser.resize(width, 844);
          const [page, screen] = await browser.evaluate<number[]>(
            "[document.documentElement.scrollWidth, innerWidth]",
          );
          expect([path, screen]).toEqual([path, width]);
          expect([path, width, (page ?? 0) <= width]).toEqual([path, width, true]);
          if (SHOTS !== undefined)
            await Bun.write(`${SHOTS}/${width}${path.replaceAll("/", "-")}.png`, await browser.screenshot());
        }
      }
      expect(browser.complaints()).toEqual([]);
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
