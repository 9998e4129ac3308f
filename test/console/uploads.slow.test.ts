import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CHROMIUM } from "../support/browser.ts";
import { answerCalls, jsonReply } from "../support/console-calls.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import { listCsv } from "../support/list-file.ts";

/** Of a file of more than one part. */
const ROWS = 50_000;
const TEST_TIMEOUT_MS = 120_000;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("an upload in the console", () => {
  let scene: BrowsedServer;
  beforeAll(async () => {
    scene = await startBrowsedServer();
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());

  test(
    "is discarded while it is resumed; where the server does not erase it, it says so and is kept",
    async () => {
      const { server, browser, folder } = scene;
      const key = await server.signUp();
      const path = join(folder, "people.csv");
      await Bun.write(path, listCsv(ROWS));
      await using tab = await openConsole(browser, server.url, { key });
      let deletions = 0;
      // The second part never arrives.
      await answerCalls(tab, (call) => {
        if (call.endsWith("/parts/2")) return null;
        if (!call.startsWith("DELETE")) return undefined;
        deletions += 1;
        if (deletions > 1) return undefined;
        const error = { code: "rate_limited", message: "Too many calls." };
        return jsonReply({ error }, 429);
      });
      await tab.goTo("lists");
      await tab.putFile(path);
      await tab.press("Upload and start");
      await tab.page.waitForFunction('sessionStorage.getItem("assay-upload")?.includes("=")');
      await tab.page.reload();
      await tab.sees(/1 of \d+ parts are on the server/);
      await tab.putFile(path);
      await tab.press("Stop and discard");
      await tab.sees("Too many calls.");
      expect(await tab.text()).toMatch(/1 of \d+ parts are on the server/);
      await tab.press("Discard what was sent");
      await tab.sees("Choose a file, or drop it here");
      const { data } = await jsonOf<{ data: unknown[] }>(await server.call("/v1/jobs", { key }));
      expect([data, deletions]).toEqual([[], 2]);
      expect(await tab.page.evaluate('sessionStorage.getItem("assay-upload")')).toBeNull();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that goes on elsewhere is watched from its first part to its end",
    async () => {
      const { server, browser } = scene;
      const key = await server.signUp();
      const { job_id } = await jsonOf<{ job_id: string }>(
        await server.call("/v1/jobs?upload=parts&kind=email&name=elsewhere.txt", {
          key,
          method: "POST",
          headers: { "Content-Type": "text/plain" },
        }),
      );
      await using tab = await openConsole(browser, server.url, { key });
      await tab.goTo(`lists/${job_id}`);
      await tab.sees("Receiving");
      const headers = { "Content-Type": "application/octet-stream" };
      const part = { key, method: "PUT", headers, body: "ann@good.com\n" };
      expect((await server.call(`/v1/jobs/${job_id}/parts/1`, part)).status).toBe(204);
      expect((await server.call(`/v1/jobs/${job_id}/start`, { key, method: "POST" })).status).toBe(202);
      await tab.sees("Completed");
      await tab.sees("ann@good.com");
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
