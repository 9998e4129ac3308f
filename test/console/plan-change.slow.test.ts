import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import type { Account } from "../../src/client/contract-types.ts";
import { CHROMIUM } from "../support/browser.ts";
import { answerCalls, jsonReply } from "../support/console-calls.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import type { TestServer } from "../support/server.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;
const DAY_MS = 86_400_000;

const dayOf = (iso: string) =>
  new Date(iso).toLocaleDateString("en-US", { dateStyle: "medium", timeZone: "UTC" });

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("the console", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  let now = Date.UTC(2026, 10, 29, 12);
  beforeAll(async () => {
    scene = await startBrowsedServer({ clock: { now: () => now, monotonic: () => performance.now() } });
    ({ server, browser } = scene);
  }, TEST_TIMEOUT_MS);
  afterAll(() => scene[Symbol.asyncDispose]());

  const account = async (key: string) => jsonOf<Account>(await server.call("/v1/account", { key }));
  /** Goes to the month that follows the one of an account, and returns the days on which the two end. */
  const turnMonth = async (key: string) => {
    const { end } = (await account(key)).period;
    now = Date.parse(end) + DAY_MS;
    return { before: dayOf(end), after: dayOf((await account(key)).period.end) };
  };
  const change = (key: string, body: object) => server.call("/v1/account/plan", { key, body });

  test(
    "shows a change of plan as it is by now where the view was opened in the month before",
    async () => {
      const key = await server.signUp("starter");
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("plan");
      await tab.sees("This month so far");
      const { before, after } = await turnMonth(key);
      expect(after).not.toBe(before);
      await tab.press("Choose Growth");
      await tab.sees("Growth for that time");
      expect(await tab.text()).toContain(`From ${after} on`);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "makes no change of plan whose price another month has changed, and shows it anew",
    async () => {
      const key = await server.signUp("starter");
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("plan");
      await tab.press("Choose Growth");
      await tab.sees("Growth for that time");
      const { before, after } = await turnMonth(key);
      expect(await tab.text()).toContain(`From ${before} on`);
      await tab.press("Change to Growth");
      await tab.sees("The plan or the month is another one by now.");
      await tab.sees(`From ${after} on`);
      expect((await account(key)).plan).toBe("starter");
      await tab.press("Change to Growth");
      await tab.sees("The plan is Growth now.");
      expect((await account(key)).plan).toBe("growth");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "makes no change of plan whose dialog is left while the account is read before it",
    async () => {
      const key = await server.signUp("starter");
      await using tab = await openConsole(browser, server.url, { key });
      const readings: Array<() => void> = [];
      let changes = 0;
      let hangs = false;
      let asked = Promise.withResolvers<void>();
      const hang = () => {
        asked = Promise.withResolvers<void>();
        hangs = true;
      };
      await answerCalls(tab, (call) => {
        if (call === "POST /v1/account/plan") changes += 1;
        if (!hangs || call !== "GET /v1/account") return undefined;
        const answer = Promise.withResolvers<ReturnType<typeof jsonReply>>();
        readings.push(async () => answer.resolve(jsonReply(await account(key))));
        asked.resolve();
        return answer.promise;
      });
      await tab.goTo("plan");
      await tab.press("Choose Growth");
      await tab.sees("Growth for that time");
      hang();
      const left = Promise.withResolvers<void>();
      tab.page.on("requestfailed", () => left.resolve());
      await tab.press("Change to Growth");
      await asked.promise;
      await tab.press("Back");
      await left.promise;
      hangs = false;
      for (const answer of readings.splice(0)) answer();
      await tab.press("Choose Growth");
      await tab.sees("Growth for that time");
      await tab.press("Back");
      hang();
      await tab.press("Choose Growth");
      await asked.promise;
      await tab.page.waitForSelector(".plan-card[aria-label=Scale] button:disabled");
      for (const answer of readings.splice(0)) answer();
      await tab.sees("Growth for that time");
      hangs = false;
      expect([changes, (await account(key)).plan]).toEqual([0, "starter"]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "saves a spend limit and leaves the plan that was changed elsewhere meanwhile",
    async () => {
      const key = await server.signUp("starter");
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("plan");
      await tab.fill("Spend limit in USD (optional)", "500");
      await change(key, { plan: "growth" });
      await tab.press("Save");
      await tab.page.waitForFunction(
        'document.querySelector("[aria-live=polite]").textContent === "The spend limit is saved."',
      );
      expect(await account(key)).toMatchObject({
        plan: "growth",
        pending_plan: null,
        spend_limit_usd: "500.00",
      });
    },
    TEST_TIMEOUT_MS,
  );
});
