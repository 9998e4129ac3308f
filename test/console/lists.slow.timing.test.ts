import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, HTTPRequest } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import {
  type BrowsedServer,
  type ConsolePage,
  openConsole,
  startBrowsedServer,
} from "../support/console-page.ts";
import { listCsv } from "../support/list-file.ts";
import type { TestServer } from "../support/server.ts";

/** Rows of the list. It is watched to its end, by threads that give way to all else: no other file runs beside it. */
const ROWS = Number(process.env.CONSOLE_ROWS ?? 1_000_000);
const TEST_TIMEOUT_MS = 400_000;
const DOWNLOAD_MS = 90_000;

/** Places of the table that are looked at, each far from the one before. */
const SCROLLS = Number(process.env.CONSOLE_SCROLLS ?? 8);
const HEAP_GROWTH_BYTES_MAX = 4_000_000;

const count = (number: number) => number.toLocaleString("en-US");

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("a list in the console", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  let folder: string;
  let path: string;
  beforeAll(async () => {
    scene = await startBrowsedServer();
    ({ server, browser, folder } = scene);
    path = join(folder, "people.csv");
    await Bun.write(path, listCsv(ROWS));
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());

  test(
    "is previewed with its cost, sent, watched across a reload, filtered, and downloaded as the API gives it",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("lists");
      await tab.putFile(path);
      await tab.sees("user.0@good.com");
      await tab.sees(`${count(ROWS / 10)}\n`);
      const shown = await tab.text();
      expect(shown).toContain(`Rows\n${count(ROWS)}`);
      expect(shown).toContain(`Cost at most\n${count(ROWS * 0.9)} units`);

      // The second part never arrives: the page is loaded anew in the middle.
      const arrival = Promise.withResolvers<void>();
      const hold = (request: HTTPRequest) => {
        if (request.url().endsWith("/parts/2")) arrival.resolve();
        else void request.continue();
      };
      await tab.page.setRequestInterception(true);
      tab.page.on("request", hold);
      await tab.press("Upload and start");
      await arrival.promise;
      await tab.page.reload();
      // Not before: the end of the interception lets go what it holds.
      tab.page.off("request", hold);
      await tab.page.setRequestInterception(false);
      await tab.sees(/1 of \d+ parts are on the server/);
      await tab.putFile(path);
      await tab.page.waitForFunction('location.hash.startsWith("#/lists/job")');

      await tab.page.reload();
      await tab.sees("Completed");
      await tab.sees(`Rows 1 to 14 of ${count(ROWS)}`);
      const jobId = String(await tab.page.evaluate('location.hash.split("/")[2]'));

      // The end of the list, by the keyboard.
      await tab.page.focus(".virtual-frame");
      await tab.page.keyboard.press("End");
      await tab.sees(`user.${ROWS - 10}@`);
      // Rows in view alone are in the page.
      expect(Number(await tab.page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(700);
      await tab.page.keyboard.press("Home");
      await tab.sees("user.0@good.com");
      await scrollThrough(tab, SCROLLS);
      const before = await heapBytesOf(tab);
      await scrollThrough(tab, SCROLLS);
      const after = await heapBytesOf(tab);
      console.log(
        `console: ${before} bytes of heap after ${SCROLLS} places of ${ROWS} rows, ${after} after ${2 * SCROLLS}`,
      );
      expect(after - before).toBeLessThan(HEAP_GROWTH_BYTES_MAX);

      await tab.choose("Verdict", "undeliverable");
      await tab.sees(/\d rows match|10,000 that match/);
      await tab.fill("Domain", "null.com");
      await tab.press("Apply");
      await tab.sees(/\d rows match|10,000 that match/);
      const filtered = String(await tab.page.evaluate('document.querySelector(".virtual-rows").innerText'));
      expect(filtered).toContain("@null.com");
      expect(filtered).not.toContain("@good.com");

      await tab.fill("Domain", "");
      await tab.press("CSV");
      const file = join(tab.folder, "people-results.csv");
      const wanted = await (
        await server.call(`/v1/jobs/${jobId}/results?format=csv&status=undeliverable`, { key })
      ).text();
      await tab.page.waitForFunction('!document.body.innerText.includes("so far")');
      await downloaded(tab, file, (text) => text.length === wanted.length);
      expect(await Bun.file(file).text()).toBe(wanted);
      expect(tab.complaints()).toEqual([]);
      expect(
        tab.requested().filter((url) => !url.startsWith(server.url) && !url.startsWith("blob:")),
      ).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "of hostile rows is shown as text",
    async () => {
      const key = await server.signUp();
      const hostile = join(folder, "hostile.csv");
      const rows = [
        '<img src=x onerror="window.hacked=1">@good.com',
        "\u001b[31mred\u001b[0m@good.com",
        "\u202eevil\u202c@good.com",
        `${"a".repeat(10_000)}@good.com`,
        "=HYPERLINK(1)@good.com",
      ];
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      await Bun.write(hostile, `email,note\n${rows.map((row) => `${cell(row)},"=1+1"`).join("\n")}\n`);
      await using tab = await openConsole(browser, server.url, { key, width: 390 });
      await tab.goTo("lists");
      await tab.putFile(hostile);
      await tab.sees("<img src=x");
      // What turns the text around it, or is not seen, has a sign.
      await tab.sees("[U+202E]evil[U+202C]@good.com");
      await tab.press("Upload and start");
      await tab.sees("Completed");
      await tab.sees("<img src=x");
      expect(await tab.page.evaluate("window.hacked")).toBeUndefined();
      expect(await tab.page.evaluate('document.querySelectorAll("#main img").length')).toBe(0);
      expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      await tab.press("CSV for spreadsheets");
      const file = join(tab.folder, "hostile-results.csv");
      const text = await downloaded(tab, file, (written) => written !== "");
      expect(text).toContain("'=1+1");
      expect(text).not.toMatch(/(?:^|,)"?[=+@]/m);
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

/** Goes to places spread over the table, and waits at each until its rows are there. */
async function scrollThrough(tab: ConsolePage, places: number): Promise<void> {
  for (let place = 0; place < places; place++) {
    const share = ((place * 7_919) % places) / places;
    await tab.page.evaluate(
      `{ const frame = document.querySelector(".virtual-frame"); frame.scrollTop = ${share} * (frame.scrollHeight - frame.clientHeight); }`,
    );
    await tab.page.waitForFunction('document.querySelector(".waiting") === null');
  }
}

async function heapBytesOf({ page }: ConsolePage): Promise<number> {
  const session = await page.createCDPSession();
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

/** Waits for a download, which the browser names when it is whole, and returns its text. */
async function downloaded(
  tab: ConsolePage,
  file: string,
  isWhole: (text: string) => boolean,
): Promise<string> {
  const deadline = performance.now() + DOWNLOAD_MS;
  for (;;) {
    const text = (await Bun.file(file).exists()) ? await Bun.file(file).text() : "";
    if (isWhole(text)) return text;
    if (performance.now() > deadline) {
      const files = readdirSync(tab.folder).map(
        (name) => `${name}: ${Bun.file(join(tab.folder, name)).size}`,
      );
      throw new Error(`The folder has ${files.join(", ")}; the page shows:\n${await tab.text()}`);
    }
    await Bun.sleep(20);
  }
}
