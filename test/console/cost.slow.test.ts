import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { formatUsd, parseUsd } from "../../src/billing/money.ts";
import type { Account } from "../../src/client/contract-types.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import type { TestServer } from "../support/server.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;

const count = (number: number) => number.toLocaleString("en-US");

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("the console", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    scene = await startBrowsedServer();
    ({ server, browser } = scene);
  }, TEST_TIMEOUT_MS);
  afterAll(() => scene[Symbol.asyncDispose]());

  const account = async (key: string) => jsonOf<Account>(await server.call("/v1/account", { key }));
  /** Sets a spend limit that pays for two units of the plan starter beyond the included ones: 0.003 USD. */
  const limit = async (key: string) => {
    const { total_usd } = (await account(key)).projected_invoice;
    const spend_limit_usd = formatUsd((parseUsd(total_usd) ?? 0) + 3_000);
    await server.call("/v1/account/plan", { key, body: { plan: "starter", spend_limit_usd } });
  };
  const list = async (rows: number) => {
    const path = join(scene.folder, `rows-${rows}.txt`);
    await Bun.write(path, Array.from({ length: rows }, (_, at) => `ann${at}@good.com`).join("\n"));
    return path;
  };

  test(
    "says before an upload what the spend limit pays for, and the price beyond the plan to the last decimal",
    async () => {
      const key = await server.signUp("starter");
      const { usage } = await account(key);
      await limit(key);
      await using tab = await openConsole(browser, server.url, { key });
      await tab.sees(`Left in all\n${count(usage.included_units + 2)}`);
      await tab.goTo("lists");
      await tab.putFile(await list(usage.included_units + 2));
      await tab.sees("2 units, $0.003");
      await tab.sees(`the spend limit pays for ${count(usage.included_units + 2)}`);
      expect(await tab.text()).not.toContain("the server will refuse the list");
      await tab.press("Choose another file");
      await tab.putFile(await list(usage.included_units + 3));
      await tab.sees("The spend limit pays for too few units, so the server will refuse the list.");
      const isOff = 'document.querySelector(".card .button.primary").disabled';
      expect(await tab.page.evaluate(isOff)).toBeTrue();
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "keeps what was sent of a list that the spend limit does not pay for, and starts it once it does",
    async () => {
      const key = await server.signUp("starter");
      const { usage } = await account(key);
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("lists");
      await tab.putFile(await list(usage.included_units + 3));
      await tab.sees("3 units, $0.0045");
      // The page does not know of it.
      await limit(key);
      await tab.press("Upload and start");
      await tab.sees("is sent, and not started");
      await tab.sees(/the spend limit of .* USD pays for/);
      await server.call("/v1/account/plan", { key, body: { plan: "starter", spend_limit_usd: null } });
      await tab.press("Start the list");
      await tab.page.waitForFunction('location.hash.startsWith("#/lists/job")');
    },
    TEST_TIMEOUT_MS,
  );
});
