import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { WEBHOOK_EVENTS } from "../../src/contract/words.ts";
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

describe.skipIf(CHROMIUM === null)("the console", () => {
  let scene: BrowsedServer;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    scene = await startBrowsedServer({ environment: { WEBHOOK_ALLOW_PRIVATE: "true" } });
    ({ server, browser } = scene);
  }, TEST_TIMEOUT_MS);
  afterAll(() => scene[Symbol.asyncDispose]());

  /** Nothing was logged as wrong, and nothing came from elsewhere. */
  const expectQuiet = (tab: ConsolePage) => {
    expect(tab.complaints()).toEqual([]);
    expect(tab.requested().filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual(
      [],
    );
  };

  test(
    "signs up, shows the key once, keeps it in the tab alone and forgets it at the end",
    async () => {
      await using tab = await openConsole(browser, server.url);
      await tab.press("Sign up");
      await tab.fill("Email", "ann@good.com");
      await tab.page.keyboard.press("Enter");
      await tab.sees("It is shown only once");
      const key = /asy_\w{36}/.exec(await tab.text())?.[0] ?? "";
      await tab.press("I have saved it: continue");
      await tab.sees("Units this month");
      const kept = async () =>
        String(
          await tab.page.evaluate(
            "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])",
          ),
        );
      expect(await kept()).toBe(JSON.stringify([JSON.parse(await kept())[0], {}, ""]));
      expect(await kept()).toContain(key);
      expect(await tab.text()).not.toContain(key);
      expect([tab.page.url(), ...tab.requested()].filter((url) => url.includes(key.slice(4)))).toEqual([]);
      expect(JSON.stringify(server.logged())).not.toContain(key.slice(4));
      await tab.press("Sign out");
      await tab.sees("I have a key");
      expect(await kept()).not.toContain(key);
      expectQuiet(tab);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "says the verdict on an address in words, takes the suggestion by a click, and gives the call to copy",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("try");
      await tab.fill("Email address", "ann@gmial.com");
      await tab.press("Verify");
      await tab.sees("Mail to this address will not arrive.");
      await tab.sees("−100");
      await tab.press("ann@gmail.com");
      await tab.sees("Mail to this address should arrive.");
      expect(await tab.text()).toContain('{"email":"ann@gmail.com"}');
      // As where the console is opened by http from another machine.
      await tab.page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
      await tab.press("Copy curl");
      await tab.sees("Not allowed: copy it by hand");
      expect(await tab.text()).not.toContain(key);
      await tab.press("Phone");
      await tab.fill("Phone number", "+55 11 96123-4567");
      await tab.press("Validate");
      await tab.sees("+5511961234567");
      await tab.press("Document");
      await tab.fill("Document number", "DE89370400440532013000");
      await tab.press("Validate");
      await tab.sees("A valid IBAN.");
      await tab.press("Batch");
      await tab.fill("One item on each line", "ann@good.com\nbob@null.com\nann@good.com");
      await tab.press("Verify");
      await tab.sees("1 duplicate, not charged.");
      expectQuiet(tab);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "makes a key, rotates its own with an overlap and goes on with the new one, and revokes another",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("keys");
      await tab.fill("Name", "Newsletter");
      await tab.press("Create key");
      await tab.sees("The new key Newsletter");
      const made = /asy_\w{36}/.exec(await tab.text())?.[0] ?? "";
      expect((await server.call("/v1/email/verify?email=ann@good.com", { key: made })).status).toBe(200);
      await tab.press("I have saved it");
      await tab.press(`Rotate asy_…${key.slice(-4)}`);
      await tab.press("Rotate the key");
      await tab.sees("The replacement key");
      const next = /asy_\w{36}/.exec(await tab.text())?.[0] ?? "";
      expect(await tab.page.evaluate('sessionStorage.getItem("assay-key")')).toBe(next);
      for (const each of [key, next])
        expect((await server.call("/v1/account", { key: each })).status).toBe(200);
      await tab.press("Revoke Newsletter");
      await tab.press("Revoke the key");
      await tab.sees("Revoked");
      expect((await server.call("/v1/account", { key: made })).status).toBe(401);
      await tab.press(`Revoke asy_…${next.slice(-4)}`);
      await tab.sees("the account is locked out on");
      expectQuiet(tab);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "rotates its own key at once although the reply is lost: pressed again, the new key is shown",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("keys");
      await tab.press(`Rotate asy_…${key.slice(-4)}`);
      await tab.choose("The old key expires", "0");
      let isLost = false;
      await tab.page.setRequestInterception(true);
      tab.page.on("request", async (request) => {
        if (isLost || !request.url().endsWith("/rotate")) return request.continue();
        isLost = true;
        const body = request.postData() ?? "";
        await fetch(request.url(), { method: "POST", headers: request.headers(), body });
        await request.abort("connectionreset");
      });
      // The page finds the server again and asks for its list with the key that has ended.
      const refused = tab.page.waitForResponse((reply) => reply.status() === 401, {
        timeout: TEST_TIMEOUT_MS,
      });
      await tab.press("Rotate the key");
      await refused;
      await tab.press("Rotate the key");
      await tab.sees("The replacement key");
      const next = /asy_\w{36}/.exec(await tab.text())?.[0] ?? "";
      expect((await server.call("/v1/account", { key })).status).toBe(401);
      expect((await server.call("/v1/account", { key: next })).status).toBe(200);
      expect(await tab.page.evaluate('sessionStorage.getItem("assay-key")')).toBe(next);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "adds a webhook, sends a test event, shows the answer and replays it",
    async () => {
      const received: string[] = [];
      const receiver = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch(request) {
          received.push(await request.text());
          return new Response("<b>thanks</b>");
        },
      });
      try {
        const key = await server.signUp();
        await using tab = await openConsole(browser, server.url, { key });
        await tab.goTo("webhooks");
        await tab.fill("URL", `http://127.0.0.1:${receiver.port}/hook`);
        await tab.press("Add endpoint");
        await tab.sees("whsec_");
        await tab.press("I have saved it");
        await tab.press(`http://127.0.0.1:${receiver.port}/hook`);
        await tab.press("Send test event");
        await tab.sees("Delivered");
        await tab.press("Response to webhook.test");
        await tab.sees("<b>thanks</b>");
        await tab.press("Close");
        await tab.press("Replay webhook.test");
        while (received.length < 2) await Bun.sleep(20);
        expect(received[0]).toContain("webhook.test");
        expectQuiet(tab);
      } finally {
        await receiver.stop(true);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "changes the URL and the events of an endpoint, and gives the focus back to what opened a dialog",
    async () => {
      const key = await server.signUp();
      const { webhook_id } = await jsonOf<{ webhook_id: string }>(
        await server.call("/v1/webhooks", { key, body: { url: "http://127.0.0.1:9/first" } }),
      );
      await using tab = await openConsole(browser, server.url, { key });
      const focuses = (words: string) =>
        tab.page.waitForFunction(`document.activeElement.textContent === ${JSON.stringify(words)}`);
      await tab.goTo(`webhooks/${webhook_id}`);
      await tab.press("Edit");
      await tab.sees("Edit the endpoint");
      await tab.press("Back");
      await focuses("Edit");
      await tab.press("Edit");
      await tab.fill("URL", "ftp://nowhere");
      await tab.press("Save");
      await tab.sees("url must be");
      await tab.fill("URL", "http://127.0.0.1:9/second");
      await tab.page.click("dialog input[type=checkbox]");
      await tab.page.focus("dialog input[type=url]");
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForSelector("dialog", { hidden: true });
      await focuses("Edit");
      const { data } = await jsonOf<{ data: { url: string; events: string[] }[] }>(
        await server.call("/v1/webhooks", { key }),
      );
      const events = WEBHOOK_EVENTS.slice(1);
      expect(data).toMatchObject([{ url: "http://127.0.0.1:9/second", events }]);
      expect(await tab.page.$eval("h1", (head) => head.textContent)).toBe("http://127.0.0.1:9/second");
      await tab.sees(events.join(", "));
      await tab.press("Rotate secret");
      await tab.sees("Rotate the secret?");
      await tab.page.keyboard.press("Escape");
      await focuses("Rotate secret");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "previews what a change of plan costs, and makes it at that price",
    async () => {
      const key = await server.signUp("starter");
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo("plan");
      await tab.press("Choose Growth");
      await tab.sees("Growth for that time");
      const previewed = /Growth for that time\s+\$([\d.,]+)/.exec(await tab.text())?.[1] ?? "";
      await tab.press("Change to Growth");
      await tab.sees("The plan is Growth now.");
      const { plan, projected_invoice } = await jsonOf<{
        plan: string;
        projected_invoice: { lines: { description: string; amount_usd: string }[] };
      }>(await server.call("/v1/account", { key }));
      const line = projected_invoice.lines.find(({ description }) => description.startsWith("Growth plan,"));
      expect(plan).toBe("growth");
      // A cent is two minutes of this plan.
      expect(Math.abs(Number(previewed.replaceAll(",", "")) - Number(line?.amount_usd))).toBeLessThan(0.02);
      await tab.press("Choose Free");
      await tab.press("Change to Free");
      await tab.sees("The plan changes to Free on");
      await tab.press("Keep Growth");
      await tab.page.waitForSelector("dialog .primary");
      await tab.page.click("dialog .primary");
      await tab.sees("The plan is Growth now.");
      expectQuiet(tab);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "says when the server is lost, and goes on by itself when it is back",
    async () => {
      const key = await server.signUp();
      await using tab = await openConsole(browser, server.url, { key });
      await tab.sees("Units this month");
      await tab.page.setOfflineMode(true);
      await tab.goTo("keys");
      await tab.sees("It is asked again every 2 seconds");
      await tab.page.setOfflineMode(false);
      await tab.sees("This console");
      expect(await tab.text()).not.toContain("It is asked again");
    },
    TEST_TIMEOUT_MS,
  );
});
