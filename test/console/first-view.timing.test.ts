import { expect, test } from "bun:test";
import { median } from "../../bench/result.ts";
import { CHROMIUM } from "../support/browser.ts";
import { openConsole, startChromium } from "../support/console-page.ts";
import { startTestServer } from "../support/server.ts";

/** On loopback, from the navigation to the first paint of what the view says, by a browser that has none of its files. */
const FIRST_VIEW_MS_MAX = 300;
/** The median of as many in a row; others may be using the machine meanwhile, so there are some rounds of them. */
const VIEWS = 5;
const ROUNDS_MAX = 4;
const PAINTED = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime';

test.skipIf(CHROMIUM === null)(
  `the console shows its first view within ${FIRST_VIEW_MS_MAX} ms, as a median`,
  async () => {
    await using server = await startTestServer();
    const browser = await startChromium(CHROMIUM ?? "");
    try {
      const medians: number[] = [];
      while (medians.length < ROUNDS_MAX && !medians.some((ms) => ms <= FIRST_VIEW_MS_MAX)) {
        const times: number[] = [];
        for (let view = 0; view < VIEWS; view++) {
          await using tab = await openConsole(browser, server.url);
          await tab.sees("I have a key");
          times.push(Number(await (await tab.page.waitForFunction(PAINTED)).jsonValue()));
        }
        medians.push(median(times));
        console.log(`console: first view after ${times.map((time) => Math.round(time)).join(", ")} ms`);
      }
      console.log(`console: median ${medians.map((ms) => Math.round(ms)).join(", ")} ms`);
      expect(Math.min(...medians)).toBeLessThanOrEqual(FIRST_VIEW_MS_MAX);
    } finally {
      await browser.close();
    }
  },
  60_000,
);
