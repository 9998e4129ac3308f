import { expect, test } from "bun:test";
import { CHROMIUM } from "../support/browser.ts";
import { openConsole, startChromium } from "../support/console-page.ts";
import { startTestServer } from "../support/server.ts";

/** On loopback, by the best of a few: others may be using the machine. */
const FIRST_VIEW_MS_MAX = 300;
const VIEWS_MAX = 10;
const PAINTED = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime';

test.skipIf(CHROMIUM === null)(
  `the console shows its first view within ${FIRST_VIEW_MS_MAX} ms`,
  async () => {
    await using server = await startTestServer();
    const browser = await startChromium(CHROMIUM ?? "");
    try {
      const times: number[] = [];
      while (times.length < VIEWS_MAX && !times.some((time) => time <= FIRST_VIEW_MS_MAX)) {
        await using tab = await openConsole(browser, server.url);
        await tab.sees("I have a key");
        times.push(Number(await (await tab.page.waitForFunction(PAINTED)).jsonValue()));
      }
      console.log(`console: first view after ${times.map((time) => Math.round(time)).join(", ")} ms`);
      expect(Math.min(...times)).toBeLessThanOrEqual(FIRST_VIEW_MS_MAX);
    } finally {
      await browser.close();
    }
  },
  60_000,
);
