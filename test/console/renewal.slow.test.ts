import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHROMIUM } from "../support/browser.ts";
import { answerCalls, jsonReply } from "../support/console-calls.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";

const TEST_TIMEOUT_MS = 120_000;
/** Longer than the table waits from one reply to its next call. */
const SLOW_REPLY_MS = 2_500;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("the console", () => {
  let scene: BrowsedServer;
  beforeAll(async () => {
    scene = await startBrowsedServer();
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());

  test(
    "renews the deliveries of an endpoint also where each reply takes longer than the time between two",
    async () => {
      const { server, browser } = scene;
      const key = await server.signUp();
      const { webhook_id } = await jsonOf<{ webhook_id: string }>(
        await server.call("/v1/webhooks", { key, body: { url: "https://example.com/hook" } }),
      );
      await using tab = await openConsole(browser, server.url, { key });
      let calls = 0;
      await answerCalls(tab, (call) => {
        if (!call.endsWith("/deliveries")) return undefined;
        calls += 1;
        return calls === 1 ? deliveries("pending") : slowly(deliveries("delivered"));
      });
      await tab.goTo(`webhooks/${webhook_id}`);
      await tab.sees("Pending");
      await tab.sees("Delivered");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "tells a history that cannot be read, or not to its end, from a service without a change",
    async () => {
      const { server, browser } = scene;
      const key = await server.signUp();
      const { listings } = await jsonOf<{ listings: { host: string }[] }>(await server.call("/v1/directory"));
      await using tab = await openConsole(browser, server.url, { key });
      const error = { code: "not_found", message: "Not all changes are kept." };
      let changes = jsonReply({ error }, 404);
      await answerCalls(tab, (call) => (call === "GET /v1/changes" ? changes : undefined));
      await tab.goTo(`directory/${listings[0]?.host}`);
      await tab.sees("The history cannot be read here");
      expect(await tab.text()).not.toContain("No change of this service");
      changes = jsonReply({ epoch: "e", changes: [], next_cursor: "c", has_more: true });
      await tab.goTo(`directory/${listings[1]?.host}`);
      await tab.sees("Later changes were not read");
      expect(await tab.text()).toContain("No change of this service is among those read.");
      expect(await tab.text()).not.toContain("on record");
    },
    TEST_TIMEOUT_MS,
  );
});

const AT = "2026-11-03T10:00:00.000Z";

function deliveries(state: string) {
  const delivery = {
    ...{ delivery_id: "del_1", event_id: "evt_1", type: "job.completed", url: null, created_at: AT },
    ...{ state, attempts: 1, last_attempt_at: AT, status: 200, error: null, latency_ms: 5 },
    ...{ answer: "thanks", next_attempt_at: null },
  };
  return jsonReply({ data: [delivery], has_more: false, next_cursor: null });
}

/** A reply of a server that is slow. */
function slowly<Reply>(reply: Reply): Promise<Reply> {
  return new Promise((resolve) => setTimeout(() => resolve(reply), SLOW_REPLY_MS));
}
