import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HTTPRequest } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import { answerCalls, jsonReply } from "../support/console-calls.ts";
import { type BrowsedServer, openConsole, startBrowsedServer } from "../support/console-page.ts";
import { jsonOf } from "../support/json.ts";
import { listCsv } from "../support/list-file.ts";

/** More than the table shows at once. */
const ROWS = 100;
const TEST_TIMEOUT_MS = 120_000;

const RESULT = { email: "ann@good.com", status: "deliverable", sub_status: "ok", score: 90, reasons: [] };

/**
 * Breaks the replies with results off in the middle, as a network that fails does, while `window.breaks` is true, and
 * counts those of a filter; all other calls fail while `window.isAway` is true.
 */
const BREAK_RESULTS = `{
  const real = window.fetch;
  window.breaks = true;
  window.readings = 0;
  window.fetch = async (path, init) => {
    if (window.isAway && !path.includes("/results")) throw new TypeError("Failed to fetch");
    if (path.includes("status=")) window.readings += 1;
    // As it is when the call is made: what is switched off meanwhile is of the next call.
    const breaks = window.breaks && path.includes("/results");
    const reply = await real(path, init);
    if (!breaks) return reply;
    const bytes = new Uint8Array(await reply.arrayBuffer());
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(bytes.subarray(0, bytes.length / 2)),
      pull: (stream) => stream.error(new TypeError("network error")),
    });
    return new Response(body, { status: reply.status, headers: reply.headers });
  };
}`;

if (CHROMIUM === null) console.log("console: no chromium here; the tests that drive the page are skipped");

describe.skipIf(CHROMIUM === null)("a part of the results in the console", () => {
  let scene: BrowsedServer;
  let key: string;
  let job: { readonly job_id: string; readonly counts: object };
  beforeAll(async () => {
    scene = await startBrowsedServer();
    const { server } = scene;
    key = await server.signUp();
    const list = { key, body: listCsv(ROWS), headers: { "Content-Type": "text/csv" } };
    const { job_id } = await jsonOf<{ job_id: string }>(await server.call("/v1/jobs?name=people.csv", list));
    await (await server.call(`/v1/jobs/${job_id}/events`, { key })).text();
    job = await jsonOf(await server.call(`/v1/jobs/${job_id}`, { key }));
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());
  const open = () => openConsole(scene.browser, scene.server.url, { key });

  test(
    "of a list that pauses early is read once more, and is called a part in the table and the download",
    async () => {
      await using tab = await open();
      const isSeen = Promise.withResolvers<void>();
      const at = (status: string, processed: number) => ({
        ...job,
        ...{ status, progress: 0.04, counts: { ...job.counts, processed } },
      });
      let isPaused = false;
      await answerCalls(tab, (call, request) => {
        if (call === `GET /v1/jobs/${job.job_id}`) return jsonReply(at("running", 0));
        if (call.endsWith("/events")) {
          return isSeen.promise.then(() => {
            isPaused = true;
            const body = `id: 1\nevent: job\ndata: ${JSON.stringify(at("paused", 2))}\n\n`;
            return { contentType: "text/event-stream", body };
          });
        }
        if (!call.endsWith("/results")) return undefined;
        const isCsv = request.url().includes("format=csv");
        const rows = [1, 2].map((row) => (isCsv ? `${row}` : JSON.stringify({ ...RESULT, row })));
        const body = isPaused ? `${rows.join("\n")}\n` : "";
        return { headers: { "X-Job-Complete": "false" }, contentType: "text/csv", body };
      });
      await tab.goTo(`lists/${job.job_id}`);
      await tab.sees("0 rows so far.");
      await tab.sees("Download the rows so far");
      isSeen.resolve();
      await tab.sees("2 rows so far.");
      expect(await tab.text()).not.toContain("Download all rows");
      await tab.press("CSV");
      await tab.sees("The list was not complete: the file has only the rows that were finished by then.");
      await tab.choose("Verdict", "undeliverable");
      await tab.sees("Download the filtered rows so far");
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is not taken for all that match where the reading breaks off, and is read anew when the visitor says so only",
    async () => {
      await using tab = await open();
      await tab.goTo(`lists/${job.job_id}`);
      await tab.sees("user.0@good.com");
      expect(await tab.text()).toContain("Download all rows");
      await tab.page.evaluate(BREAK_RESULTS);
      await tab.choose("Verdict", "undeliverable");
      const again = tab.page.locator(".results .notice button");
      await tab.page.waitForFunction("window.readings === 1");
      await again.wait();
      const shown = await tab.text();
      expect(shown).toContain("The server's reply broke off.");
      expect(shown).not.toMatch(/rows match|a fault of its own|does not answer/);
      await again.click();
      await tab.page.waitForFunction("window.readings === 2");
      await tab.page.evaluate("window.breaks = false");
      await again.click();
      await tab.sees(/[1-9]\d* rows match\./);
      await tab.page.waitForFunction('document.querySelector(".results .notice") === null');
      expect(await tab.page.evaluate("window.readings")).toBe(3);
      expect(tab.complaints()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that cannot be read is read again, and the failure is gone, once the server is back",
    async () => {
      await using tab = await open();
      await tab.sees("Units this month");
      await tab.page.evaluate(BREAK_RESULTS);
      await tab.goTo(`lists/${job.job_id}`);
      await tab.page.waitForSelector(".results .notice");
      expect(await tab.text()).not.toMatch(/a fault of its own|does not answer/);
      await tab.page.evaluate("window.isAway = true");
      await tab.page.locator(".results .notice button").click();
      await tab.sees("The server does not answer.");
      await tab.page.evaluate("window.breaks = window.isAway = false");
      await tab.sees("user.0@good.com");
      await tab.page.waitForFunction('document.querySelector(".results .notice") === null');
    },
    TEST_TIMEOUT_MS,
  );

  test.each(["Overview", "Sign out"])(
    "is downloaded no further once its view is left by “%s”",
    async (words) => {
      await using tab = await open();
      const arrival = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const isDownload = (request: HTTPRequest) => request.url().includes("/results?format=csv");
      tab.page.on("requestfailed", (request) => {
        if (isDownload(request)) end.resolve();
      });
      await answerCalls(tab, (_, request) => {
        if (!isDownload(request)) return undefined;
        arrival.resolve();
        return null;
      });
      await tab.goTo(`lists/${job.job_id}`);
      await tab.sees(`Rows 1 to 14 of ${ROWS}`);
      await tab.press("CSV");
      await arrival.promise;
      await tab.press(words);
      await end.promise;
    },
    TEST_TIMEOUT_MS,
  );
});
