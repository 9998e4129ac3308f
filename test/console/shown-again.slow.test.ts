import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import {
  type BrowsedServer,
  type ConsolePage,
  openConsole,
  startBrowsedServer,
} from "../support/console-page.ts";
import type { TestServer } from "../support/server.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;
/** The browser shows a page again that it kept whole, as behind its button Back. */
const SHOWN_AGAIN = 'dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))';

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("a sign-out", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    scene = await startBrowsedServer();
    ({ server, browser } = scene);
  }, TEST_TIMEOUT_MS);
  afterAll(() => scene[Symbol.asyncDispose]());

  const showAgainWithoutKey = async ({ page }: ConsolePage) => {
    await page.evaluate("sessionStorage.clear()");
    await Promise.all([page.waitForNavigation(), page.evaluate(SHOWN_AGAIN)]);
  };
  /** Once it is answered, so is what was answered before it. */
  const settled = ({ page }: ConsolePage) => page.evaluate('fetch("/healthz").then(() => null)');

  test(
    "holds for a page of before that the browser shows again",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.sees("Units this month");
      // The tab keeps the key: nothing is loaded anew.
      await tab.page.evaluate("window.isSame = true");
      await tab.page.evaluate(SHOWN_AGAIN);
      await settled(tab);
      expect(await tab.page.evaluate("window.isSame")).toBeTrue();
      await showAgainWithoutKey(tab);
      await tab.sees("I have a key");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "holds for a page of the documentation that the browser shows again",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.page.goto(`${server.url}/docs`);
      await tab.page.waitForFunction(`document.getElementById("key").value === "${key}"`);
      await showAgainWithoutKey(tab);
      await tab.page.waitForFunction('document.getElementById("key").value === ""');
      expect(await tab.page.content()).not.toContain(key);
    },
    TEST_TIMEOUT_MS,
  );
});
