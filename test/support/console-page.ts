import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { CHROMIUM } from "./browser.ts";
import { temporaryFolder } from "./process.ts";
import { startTestServer, type TestServer } from "./server.ts";

/** A tab of a real Chromium with the console in it, and what went on in it. */
export type ConsolePage = AsyncDisposable & {
  readonly page: Page;
  /** Goes to a view by the address's fragment, such as `lists/job_1`. */
  readonly goTo: (place: string) => Promise<void>;
  /** Types into the field with this label, in place of what it holds. */
  readonly fill: (label: string, text: string) => Promise<void>;
  readonly choose: (label: string, value: string) => Promise<void>;
  /** Presses the button or follows the link with these words, once it can be pressed. */
  readonly press: (words: string) => Promise<void>;
  /** Chooses a file in the one field of files. */
  readonly putFile: (path: string) => Promise<void>;
  /** Waits until the page shows the text. */
  readonly sees: (text: string | RegExp) => Promise<void>;
  readonly text: () => Promise<string>;
  /** What the page wrote to its console as an error, threw, or was forbidden by its policy. */
  readonly complaints: () => readonly string[];
  /** Every address that was asked for. */
  readonly requested: () => readonly string[];
  /** Downloads land here. */
  readonly folder: string;
};

const WAIT_MS = 90_000;
const POLL_MS = 50;
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--force-color-profile=srgb",
  "--lang=en-US",
];

export async function startChromium(program: string): Promise<Browser> {
  return puppeteer.launch({
    executablePath: program,
    headless: true,
    args: FLAGS,
    env: { ...process.env, LANGUAGE: "en_US", TZ: "UTC" },
    protocolTimeout: 120_000,
  });
}

/** A server, a browser to look at its console with, and a folder for what is sent or kept. */
export type BrowsedServer = AsyncDisposable & {
  readonly server: TestServer;
  readonly browser: Browser;
  readonly folder: string;
};

/** Starts all three; there is a Chromium. */
export async function startBrowsedServer(
  ...options: Parameters<typeof startTestServer>
): Promise<BrowsedServer> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryFolder("console"));
  const server = stack.use(await startTestServer(...options));
  const browser = await startChromium(CHROMIUM ?? "");
  stack.defer(() => browser.close());
  const opened = stack.move();
  return { server, browser, folder: path, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Opens the console in a context of its own: what another tab keeps is not there. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly theme?: "light" | "dark"; readonly key?: string } = {},
): Promise<ConsolePage> {
  const { width = 1366, theme = "light", key } = options;
  const folder = mkdtempSync(join(tmpdir(), "assay-downloads-"));
  const context = await browser.createBrowserContext({
    downloadBehavior: { policy: "allow", downloadPath: folder },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} ${message.location().url ?? ""}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requested.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  if (key !== undefined) {
    // Storage is of an origin: the page is opened once to reach it.
    await page.goto(`${url}/favicon.svg`);
    await page.evaluate(`sessionStorage.setItem("assay-key", ${JSON.stringify(key)})`);
  }
  await page.goto(`${url}/console`, { waitUntil: "load" });
  const text = async () => String(await page.evaluate("document.body.innerText"));
  const control = async (label: string): Promise<ElementHandle> => {
    const words = await page.waitForSelector(`xpath/.//label[normalize-space(.)=${quoted(label)}]`);
    const id = await (await words?.getProperty("htmlFor"))?.jsonValue();
    const found = await page.waitForSelector(`[id="${id}"]`);
    if (found === null) throw new Error(`No control is called ${label}`);
    return found;
  };
  return {
    page,
    folder,
    text,
    complaints: () => complaints,
    requested: () => requested,
    async goTo(place) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
    },
    async fill(label, value) {
      const field = await control(label);
      await field.focus();
      await page.evaluate("document.activeElement.select()");
      if (value === "") await page.keyboard.press("Backspace");
      else await page.keyboard.type(value);
    },
    async choose(label, value) {
      const field = await control(label);
      await field.focus();
      await page.evaluate(
        `{ const list = document.activeElement; list.value = ${JSON.stringify(value)}; list.dispatchEvent(new Event("change", { bubbles: true })); }`,
      );
    },
    async press(words) {
      // The page may draw it anew between its being found and its being pressed: then it is looked for again.
      await page
        .locator(
          `xpath/.//*[self::button or self::a or self::summary][not(@disabled)][normalize-space(.)=${quoted(words)} or @aria-label=${quoted(words)}]`,
        )
        .setVisibility("visible")
        .click();
    },
    async putFile(path) {
      const field = await page.waitForSelector("input[type=file]");
      await field?.uploadFile(path);
    },
    async sees(wanted) {
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        const shown = await text();
        if (typeof wanted === "string" ? shown.includes(wanted) : wanted.test(shown)) return;
        if (performance.now() > deadline)
          throw new Error(`The page never showed ${wanted}; it shows:\n${shown}`);
        await Bun.sleep(POLL_MS);
      }
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}
