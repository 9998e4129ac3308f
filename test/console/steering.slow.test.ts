import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
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
/** As many domains: none of them is answered for while the list is steered. */
const ROWS = 2_000;
/** Far more presses of Tab than any view has places: it may still be on its way. */
const TABS_MAX = 400;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("the console", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    scene = await startBrowsedServer();
    ({ server, browser, folder } = scene);
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());

  test(
    "pauses, resumes, cancels and deletes a list, and the API says the same each time",
    async () => {
      const key = await server.signUp();
      const path = join(folder, "slow.csv");
      const rows = Array.from({ length: ROWS }, (_, at) => `ann@d${at}.many.com`);
      await Bun.write(path, `email\n${rows.join("\n")}\n`);
      const statusOf = async (jobId: string) =>
        (await jsonOf<{ status: string }>(await server.call(`/v1/jobs/${jobId}`, { key }))).status;
      await using tab = await openConsole(browser, server.url, { key });
      server.dns.setFault("!silent");
      try {
        await tab.goTo("lists");
        await tab.putFile(path);
        await tab.press("Upload and start");
        await tab.page.waitForFunction('location.hash.startsWith("#/lists/job")');
        const jobId = String(await tab.page.evaluate('location.hash.split("/")[2]'));
        await tab.press("Pause");
        await tab.sees("Paused");
        expect(await statusOf(jobId)).toBe("paused");
        await tab.press("Resume");
        await tab.sees(/Running|Queued/);
        expect(["running", "queued"]).toContain(await statusOf(jobId));
        await tab.press("Cancel");
        await tab.press("Back");
        await tab.press("Cancel");
        await tab.press("Cancel the list");
        await tab.sees(/Cancelled|Cancelling/);
        expect(["cancelled", "cancelling"]).toContain(await statusOf(jobId));
        server.dns.setFault(null);
        await tab.press("Delete");
        await tab.press("Delete input and results");
        await tab.sees("History");
        expect((await server.call(`/v1/jobs/${jobId}`, { key })).status).toBe(404);
        expect(tab.complaints()).toEqual([]);
      } finally {
        server.dns.setFault(null);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "keeps the colours that were chosen: signing out forgets the key and all else of the tab, and not them",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      const colours = async () => String(await tab.page.evaluate("document.documentElement.dataset.theme"));
      await tab.sees("Units this month");
      await tab.page.locator('xpath/.//label[normalize-space(.)="Dark"]').click();
      expect(await colours()).toBe("dark");
      await tab.press("Sign out");
      await tab.sees("I have a key");
      await tab.page.reload({ waitUntil: "load" });
      await tab.sees("I have a key");
      expect(await colours()).toBe("dark");
      expect(await tab.page.evaluate("sessionStorage.length")).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is used by the keyboard alone: sign in, try, make a key, close a dialog, send a list and keep its results, sign out",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url);
      const { keyboard } = tab.page;
      await tabTo(tab, "API key");
      await keyboard.type(key);
      await keyboard.press("Enter");
      await tab.sees("Units this month");

      await tabTo(tab, "Try");
      await keyboard.press("Enter");
      await tabTo(tab, "Email address");
      await keyboard.type("ann@gmial.com");
      await keyboard.press("Enter");
      await tab.sees("Did you mean");
      await tabTo(tab, "ann@gmail.com");
      await keyboard.press("Enter");
      await tab.sees("Mail to this address should arrive.");
      // Tabs of a row are gone through with the arrows.
      await tabTo(tab, "Address");
      await keyboard.press("ArrowRight");
      await tab.sees("Document number");

      await tabTo(tab, "Keys");
      await keyboard.press("Enter");
      await tabTo(tab, "Name");
      await keyboard.type("Newsletter");
      await tabTo(tab, "Create key");
      await keyboard.press("Space");
      await tab.sees("The new key Newsletter");
      await tabTo(tab, "I have saved it");
      await keyboard.press("Enter");
      await tabTo(tab, "Revoke Newsletter");
      await keyboard.press("Enter");
      await tab.sees("Revoke the key");
      expect(await tab.page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true);
      await keyboard.press("Escape");
      await tab.page.waitForFunction('document.querySelector("dialog") === null');

      // A list: the file chosen, sent, watched to its end, its results gone through and kept.
      const path = join(folder, "by-keys.csv");
      await Bun.write(path, "name,email\nAnn,ann@good.com\nBob,bob@null.com\n");
      await tabTo(tab, "Lists");
      await keyboard.press("Enter");
      await tabTo(tab, "Choose a file, or drop it here");
      const [chooser] = await Promise.all([tab.page.waitForFileChooser(), keyboard.press("Space")]);
      await chooser.accept([path]);
      await tab.sees("Cost at most\n2 units");
      await tabTo(tab, "Upload and start");
      await keyboard.press("Enter");
      await tab.sees("Completed");
      await tabTo(tab, "Verdict");
      await keyboard.press("u");
      await tab.sees("1 row matches");
      await tabTo(tab, "Row 2: all that was found");
      await keyboard.press("Enter");
      await tab.sees("Is free provider");
      await keyboard.press("Escape");
      await tabTo(tab, "CSV");
      await keyboard.press("Enter");
      const kept = join(tab.folder, "by-keys-results.csv");
      while (Bun.file(kept).size === 0) await Bun.sleep(20);
      expect(await Bun.file(kept).text()).toMatch(
        /^name,email,status,[^\n]*\nBob,bob@null\.com,undeliverable,[^\n]*\n$/,
      );

      await tabTo(tab, "Sign out");
      await keyboard.press("Enter");
      await tab.sees("I have a key");
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

/** What the focused element is called, and whether the eye can find it. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText ?? "";
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  return { name: name.trim(), isMarked: (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none" };
})()`;

/** Presses Tab until this is focused, which must be visible there. */
async function tabTo({ page }: ConsolePage, name: string): Promise<void> {
  for (let round = 0; round < TABS_MAX; round++) {
    await page.keyboard.press("Tab");
    const focused = (await page.evaluate(FOCUSED)) as { name: string; isMarked: boolean };
    if (focused.name !== name) continue;
    expect(focused).toEqual({ name, isMarked: true });
    return;
  }
  throw new Error(`Tab never comes to ${name}`);
}
