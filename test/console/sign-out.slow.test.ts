import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import {
  type BrowsedServer,
  type ConsolePage,
  openConsole,
  startBrowsedServer,
} from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import type { TestServer } from "../support/server.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;

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

  const keptKey = ({ page }: ConsolePage) => page.evaluate('sessionStorage.getItem("assay-key")');
  /** Holds the calls whose address ends so until they are let go. */
  const hold = async ({ page }: ConsolePage, end: string) => {
    const arrival = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    await page.setRequestInterception(true);
    page.on("request", async (request) => {
      if (request.url().endsWith(end)) {
        arrival.resolve();
        await release.promise;
      }
      await request.continue();
    });
    return { arrived: arrival.promise, letGo: release.resolve };
  };
  /** Once it is answered, so is what was answered before it. */
  const settled = ({ page }: ConsolePage) => page.evaluate('fetch("/healthz").then(() => null)');

  test(
    "stands when the reply to a rotation of the own key comes behind it, and leaves no announcement",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("keys");
      const { arrived, letGo } = await hold(tab, "/rotate");
      await tab.press(`Rotate asy_…${key.slice(-4)}`);
      await tab.press("Rotate the key");
      await arrived;
      await tab.press("Back");
      await tab.press("Sign out");
      await tab.sees("I have a key");
      const answered = tab.page.waitForResponse((reply) => reply.url().endsWith("/rotate"));
      letGo();
      expect((await answered).status()).toBe(201);
      await settled(tab);
      expect(await keptKey(tab)).toBeNull();
      await tab.sees("I have a key");
      expect(await tab.page.evaluate('document.querySelector("[aria-live=polite]").textContent')).toBe("");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "lets the next visitor stay when the reply to a revocation of the former key comes",
    async () => {
      const [key, next] = [await server.signUp(), await server.signUp()];
      const { data } = await jsonOf<{ data: { key_id: string }[] }>(
        await server.call("/v1/account/keys", { key }),
      );
      // The last key that manages the account is not revoked.
      await server.call("/v1/account/keys", { key, body: { name: "Other" } });
      const path = `/v1/account/keys/${data[0]?.key_id}`;
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("keys");
      const { arrived, letGo } = await hold(tab, path);
      await tab.press(`Revoke asy_…${key.slice(-4)}`);
      await tab.press("Revoke the key");
      await arrived;
      await tab.press("Back");
      await tab.press("Sign out");
      await tab.fill("API key", next);
      await tab.press("Sign in");
      await tab.sees("This console");
      const answered = tab.page.waitForResponse((reply) => reply.url().endsWith(path));
      letGo();
      expect((await answered).status()).toBe(204);
      await settled(tab);
      expect(await keptKey(tab)).toBe(next);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is followed by no announcement of what a check of before finds",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("try");
      const { arrived, letGo } = await hold(tab, "/v1/email/verify");
      await tab.fill("Email address", "ann@good.com");
      await tab.press("Verify");
      await arrived;
      await tab.press("Sign out");
      await tab.sees("I have a key");
      const answered = tab.page.waitForResponse((reply) => reply.url().endsWith("/v1/email/verify"));
      letGo();
      expect((await answered).status()).toBe(200);
      await settled(tab);
      expect(await tab.page.evaluate('document.querySelector("[aria-live=polite]").textContent')).toBe("");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is not followed by a sign-in whose form was left before its reply came",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url);
      const { arrived, letGo } = await hold(tab, "/v1/account");
      await tab.fill("API key", key);
      await tab.press("Sign in");
      await arrived;
      await tab.press("Sign up");
      letGo();
      await settled(tab);
      expect(await keptKey(tab)).toBeNull();
    },
    TEST_TIMEOUT_MS,
  );
});
