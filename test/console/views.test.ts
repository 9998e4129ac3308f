import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import { type ConsolePage, openConsole, startChromium } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import { listCsv } from "../support/list-file.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;
const AXE = join(import.meta.dir, "../../node_modules/axe-core/axe.min.js");
const RULES = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"] };
/** What colours can break; the dark changes nothing else. */
const COLOUR_RULES = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
/** A folder for pictures of the views, to look at. */
const SHOTS = process.env.CONSOLE_SHOTS;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that look at the page are skipped");

describe.skipIf(CHROMIUM === null)("every view of the console", () => {
  let server: TestServer;
  let browser: Browser;
  let key: string;
  let places: { readonly [place: string]: string };
  beforeAll(async () => {
    server = await startTestServer({ environment: { WEBHOOK_ALLOW_PRIVATE: "true" } });
    browser = await startChromium(CHROMIUM ?? "");
    key = await server.signUp("growth");
    const csv = { key, body: listCsv(3_000), headers: { "Content-Type": "text/csv" } };
    const { job_id } = await jsonOf<{ job_id: string }>(await server.call("/v1/jobs?name=people.csv", csv));
    const hook = { key, body: { url: "http://127.0.0.1:9/hook", description: "Billing" } };
    const { webhook_id } = await jsonOf<{ webhook_id: string }>(await server.call("/v1/webhooks", hook));
    await server.call("/v1/account/keys", { key, body: { name: "Newsletter", scopes: ["verify"] } });
    const { listings } = await jsonOf<{ listings: { host: string }[] }>(await server.call("/v1/directory"));
    places = {
      overview: "Last 30 days",
      try: "Email address",
      lists: "History",
      [`lists/${job_id}`]: "Rows 1 to 14 of 3,000",
      keys: "Newsletter",
      webhooks: "Billing",
      [`webhooks/${webhook_id}`]: "Deliveries",
      plan: "This month so far",
      directory: "services",
      [`directory/${listings[0]?.host}`]: "Evidence",
    };
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    await server[Symbol.asyncDispose]();
  });

  const shoot = async (tab: ConsolePage, name: string) => {
    if (SHOTS !== undefined) await tab.page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  };

  const violationsOf = async (tab: ConsolePage, place: string, rules: object) => {
    if ((await tab.page.evaluate("typeof axe")) === "undefined") {
      await tab.page.evaluate(await Bun.file(AXE).text());
    }
    const found = await tab.page.evaluate(
      `axe.run(${JSON.stringify(rules)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 120) + " " + failureSummary).join(" | ")))`,
    );
    return (found as string[]).map((violation) => `${place}: ${violation}`);
  };

  /** Goes through all views; returns what is wrong with them. */
  const lookAt = async (
    width: number,
    theme: "light" | "dark",
    faultsOf: (tab: ConsolePage, place: string) => Promise<readonly string[]>,
  ): Promise<readonly string[]> => {
    const faults: string[] = [];
    {
      await using entrance = await openConsole(browser, server.url, { width, theme });
      await entrance.sees("I have a key");
      await shoot(entrance, `${width}-${theme}-enter`);
      faults.push(...(await faultsOf(entrance, "enter")));
    }
    await using tab = await openConsole(browser, server.url, { width, theme, key });
    for (const [place, shown] of Object.entries(places)) {
      await tab.goTo(place);
      await tab.sees(shown);
      await tab.page.waitForFunction('document.querySelector(".skeleton") === null');
      if (place === "try") {
        await tab.fill("Email address", "info@gmial.com");
        await tab.press("Verify");
        await tab.sees("Did you mean");
      }
      await shoot(tab, `${width}-${theme}-${place.replace(/_.*/, "").replaceAll("/", "-")}`);
      faults.push(...(await faultsOf(tab, place)));
    }
    return [...faults, ...tab.complaints()];
  };

  test(
    "breaks no rule of WCAG 2.2 A and AA in light colours",
    async () => {
      const faults = await lookAt(1366, "light", (tab, place) => violationsOf(tab, place, RULES));
      expect(faults).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "breaks none in dark colours",
    async () => {
      const faults = await lookAt(1366, "dark", (tab, place) => violationsOf(tab, place, COLOUR_RULES));
      expect(faults).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "fits a screen of 390 pixels",
    async () => {
      const faults = await lookAt(390, SHOTS === undefined ? "light" : "dark", async (tab, place) => {
        const width = Number(await tab.page.evaluate("document.documentElement.scrollWidth"));
        return width > 390 ? [`${place}: ${width} pixels wide`] : [];
      });
      expect(faults).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
