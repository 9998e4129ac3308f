import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { CHROMIUM } from "../support/browser.ts";
import { type ConsolePage, openConsole, startChromium } from "../support/console-page.ts";
import { type ConsoleScene, startConsoleScene } from "../support/console-scene.ts";
import { jsonOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";

/** Far more than it takes: the bound is no part of what is tested. */
const TEST_TIMEOUT_MS = 180_000;
const AXE = join(import.meta.dir, "../../node_modules/axe-core/axe.min.js");
const RULES = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"] };
/** What colours can break; the dark changes nothing else. */
const COLOUR_RULES = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
/** Tables, lists of facts and figures that reach beyond their frame. */
const CUT_OFF = `[...document.querySelectorAll(".table, .facts, .card, .columns")].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className + ": " + each.innerText.slice(0, 60))`;
/** What opens each dialog: the view, and what is pressed there. */
const DIALOGS = [
  ["list", "Row 1: all that was found"],
  ["list", "Delete"],
  ["keys", "Rotate Newsletter"],
  ["keys", "Revoke Newsletter"],
  ["webhook", "Response to job.completed"],
  ["webhook", "Rotate secret"],
  ["plan", "Choose Free"],
] as const;
/** What the views say that have nothing to show. */
const EMPTY = [
  ["overview", "No lists yet."],
  ["lists", "No lists yet."],
  ["webhooks", "No endpoint yet."],
  ["plan", "No invoice yet"],
  ["lists/job_unknown", "The account has no such job."],
  ["plan/inv_unknown", "There is no such invoice."],
  ["webhooks/wh_unknown", "There is no such endpoint any more."],
  // No id: what one is chosen from.
  ["lists/", "No lists yet."],
  ["directory/.", "services"],
  ["webhooks/..", "No endpoint yet."],
] as const;
const WIDE = { width: 1366, height: 900 };
const NARROW = { width: 390, height: 900 };

/** What is wrong with the views, by what was looked for. */
type Faults = { readonly light: string[]; readonly dark: string[]; readonly narrow: string[] };

if (CHROMIUM === null) console.log("console: no chromium here; the tests that look at the page are skipped");

describe.skipIf(CHROMIUM === null)("every view of the console", () => {
  let scene: ConsoleScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = await startConsoleScene();
    browser = await startChromium(CHROMIUM ?? "");
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    await scene[Symbol.asyncDispose]();
  });

  const violationsOf = async (tab: ConsolePage, place: string, rules: object) => {
    if ((await tab.page.evaluate("typeof axe")) === "undefined") {
      await tab.page.evaluate(await Bun.file(AXE).text());
    }
    const found = await tab.page.evaluate(
      `axe.run(${JSON.stringify(rules)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 120) + " " + failureSummary).join(" | ")))`,
    );
    return (found as string[]).map((violation) => `${place}: ${violation}`);
  };

  /** Looks at what is shown in light and in dark colours, and on a narrow screen; leaves it light and wide. */
  const lookAt = async (tab: ConsolePage, place: string, found: Faults) => {
    const colour = (value: string) =>
      tab.page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value },
        // Colours that fade from the ones to the others are neither.
        { name: "prefers-reduced-motion", value: "reduce" },
      ]);
    found.light.push(...(await violationsOf(tab, place, RULES)));
    await colour("dark");
    found.dark.push(...(await violationsOf(tab, place, COLOUR_RULES)));
    await colour("light");
    await tab.page.setViewport(NARROW);
    const width = Number(await tab.page.evaluate("document.documentElement.scrollWidth"));
    if (width > NARROW.width) found.narrow.push(`${place}: ${width} pixels wide`);
    const cut = (await tab.page.evaluate(CUT_OFF)) as string[];
    found.narrow.push(...cut.map((fault) => `${place}: ${fault}`));
    await tab.page.setViewport(WIDE);
  };

  /** Goes through all views of an account, or through its dialogs. */
  const walk = async (go: (tab: ConsolePage, found: Faults) => Promise<void>, key?: string) => {
    const found: Faults = { light: [], dark: [], narrow: [] };
    await using tab = await openConsole(browser, scene.server.url, key === undefined ? {} : { key });
    await go(tab, found);
    expect(found).toEqual({ light: [], dark: [], narrow: [] });
    // The browser notes each reply that is an error, as that of the list that there is not.
    expect(tab.complaints().filter((complaint) => !complaint.includes("job_unknown"))).toEqual([]);
  };
  const all = (tab: ConsolePage) => tab.page.waitForFunction('document.querySelector(".skeleton") === null');
  const BREAKS_NOTHING = "breaks no rule of WCAG 2.2 A and AA, light and dark, and fits 390 pixels";

  test(
    `${BREAKS_NOTHING}: entrance`,
    () =>
      walk(async (tab, found) => {
        await tab.sees("I have a key");
        await lookAt(tab, "enter", found);
        await tab.press("Sign up");
        await tab.sees("It must be able to receive mail.");
        await lookAt(tab, "sign up", found);
      }),
    TEST_TIMEOUT_MS,
  );

  test(
    `${BREAKS_NOTHING}: an account that has worked for weeks`,
    () =>
      walk(async (tab, found) => {
        for (const { place, shown } of scene.views) {
          await tab.goTo(place);
          await tab.sees(shown);
          await all(tab);
          if (place === "try") {
            await tab.fill("Email address", "info@gmial.com");
            await tab.press("Verify");
            await tab.sees("Did you mean");
          }
          await lookAt(tab, place, found);
        }
      }, scene.key),
    TEST_TIMEOUT_MS,
  );

  test(
    `${BREAKS_NOTHING}: its dialogs`,
    () =>
      walk(async (tab, found) => {
        for (const [name, opener] of DIALOGS) {
          const view = scene.views.find((each) => each.name === name);
          await tab.goTo(view?.place ?? "");
          await tab.sees(view?.shown ?? "");
          // What is still to come would move what is pressed.
          await all(tab);
          await tab.press(opener);
          await tab.page.waitForSelector("dialog[open]");
          await all(tab);
          await lookAt(tab, `${name}, ${opener}`, found);
          await tab.page.keyboard.press("Escape");
          await tab.page.waitForFunction('document.querySelector("dialog") === null');
        }
      }, scene.key),
    TEST_TIMEOUT_MS,
  );

  test(
    `${BREAKS_NOTHING}: an account without calls, which is shown how to begin`,
    async () => {
      const body = { email: "newcomer@good.com" };
      const { api_key } = await jsonOf<{ api_key: string }>(await scene.server.call("/v1/signup", { body }));
      await walk(async (tab, found) => {
        for (const [place, said] of EMPTY) {
          await tab.goTo(place);
          await tab.sees(said);
          await all(tab);
          expect([place, await tab.page.evaluate('document.querySelectorAll("h1").length')]).toEqual([
            place,
            1,
          ]);
          await lookAt(tab, place, found);
        }
      }, api_key);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "figures of eight digits stay in their card, on a screen of 360 pixels",
    async () => {
      await using tab = await openConsole(browser, scene.server.url, { key: scene.key, width: 360 });
      await tab.sees("Units this month");
      await tab.page.evaluate(
        'for (const each of document.querySelectorAll(".units dd")) each.textContent = "12,500,000"',
      );
      expect(await tab.page.evaluate(CUT_OFF)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a file of 40 columns stays on a screen of 360 pixels, and one that is no text is named and cannot be sent",
    async () => {
      using folder = temporaryFolder("lists");
      const names = Array.from({ length: 40 }, (_, at) => (at === 22 ? "email" : `column ${at}`));
      const wide = join(folder.path, "wide.csv");
      await Bun.write(wide, `${names.join(",")}\n${names.map(() => "ann@good.com").join(",")}\n`);
      const book = join(folder.path, "book.xlsx");
      await Bun.write(book, Buffer.from("504b030414000600", "hex"));
      await using tab = await openConsole(browser, scene.server.url, { key: scene.key, width: 360 });
      await tab.goTo("lists");
      await tab.putFile(wide);
      await tab.sees("(the items)");
      expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      await tab.press("Choose another file");
      await tab.putFile(book);
      await tab.sees("book.xlsx is not text but a ZIP archive");
      expect(await tab.text()).not.toMatch(/Counting rows|Upload and start/);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "prints an invoice: all of it on one sheet, and nothing else",
    async () => {
      const view = scene.views.find(({ name }) => name === "invoice");
      await using tab = await openConsole(browser, scene.server.url, { key: scene.key });
      await tab.goTo(view?.place ?? "");
      await tab.sees("Total");
      await tab.page.emulateMediaType("print");
      const shown = await tab.text();
      for (const words of ["Growth plan", "Total", "user1@good.com", "acc_"]) expect(shown).toContain(words);
      for (const words of ["Overview", "Sign out", "Documentation"]) expect(shown).not.toContain(words);
      const sheets = Buffer.from(await tab.page.pdf({ format: "a4" })).toString("latin1");
      expect(sheets.match(/\/Type\s*\/Page\b/g)?.length).toBe(1);
      await tab.page.emulateMediaType("screen");
      await tab.page.evaluate("window.print = () => { window.printed = true; }");
      await tab.press("Print");
      expect(await tab.page.evaluate("window.printed")).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );
});
