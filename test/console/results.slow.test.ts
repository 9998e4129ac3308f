import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CHROMIUM } from "../support/browser.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { listCsv } from "../support/list-file.ts";

/** More than the table shows at once. */
const ROWS = 100;
const TEST_TIMEOUT_MS = 60_000;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("the results of a list in the console", () => {
  let scene: BrowsedServer;
  beforeAll(async () => {
    scene = await startBrowsedServer();
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());

  for (const width of [390, 1366]) {
    test(
      `leave what stands below where it is while a filter is set and taken away, ${width} pixels wide`,
      async () => {
        const key = await scene.server.signUp();
        const path = join(scene.folder, "people.csv");
        await Bun.write(path, listCsv(ROWS));
        await using tab = await openConsole(scene.browser, scene.server.url, { key, width });
        await tab.goTo("lists");
        await tab.putFile(path);
        await tab.press("Upload and start");
        await tab.sees(`All ${ROWS} rows`);
        await tab.sees(`Rows 1 to 14 of ${ROWS}`);

        await tab.page.evaluate(WATCH_BUTTONS);
        await tab.choose("Verdict", "undeliverable");
        await tab.sees("rows match.");
        await tab.fill("Domain", "nowhere.example");
        await tab.press("Apply");
        await tab.sees("0 rows match.");
        await tab.fill("Domain", "");
        await tab.sees(/[1-9]\d* rows match\./);
        await tab.choose("Verdict", "");
        await tab.sees(`Rows 1 to 14 of ${ROWS}`);

        const places = (await tab.page.evaluate("window.places")) as readonly number[];
        expect(places.length).toBeGreaterThan(4);
        expect(new Set(places)).toEqual(new Set(places.slice(0, 1)));
        expect(tab.complaints()).toEqual([]);
      },
      TEST_TIMEOUT_MS,
    );
  }
});

/** Notes at each frame how far down the page the downloads begin. */
const WATCH_BUTTONS = `{
  window.places = [];
  const look = () => {
    const downloads = document.querySelector(".download");
    window.places.push(downloads.getBoundingClientRect().top + window.scrollY);
    requestAnimationFrame(look);
  };
  look();
}`;
