import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CHROMIUM } from "../support/browser.ts";
import { type ConsolePage, openConsole, startChromium } from "../support/console-page.ts";
import { startConsoleScene } from "../support/console-scene.ts";

// Takes the pictures of the console's page in the documentation: `bun test/console/pictures.ts [FOLDER] [dark]`.

const WIDTHS = [1366, 390] as const;
const HEIGHT_PX_MIN = 700;
const HEIGHT_PX_MAX = 4_000;
/** The first that leaves a picture small enough is taken. */
const QUALITIES = [60, 45, 30, 20] as const;
const BYTES_MAX = 60_000;
const [folder = join(import.meta.dir, "../../src/docs/pictures"), theme = "light"] = process.argv.slice(2);

if (CHROMIUM === null) throw new Error("Pictures need chromium");
mkdirSync(folder, { recursive: true });
await using scene = await startConsoleScene();
const browser = await startChromium(CHROMIUM);
try {
  for (const width of WIDTHS) await takeAll(width);
} finally {
  await browser.close();
}

async function takeAll(width: number): Promise<void> {
  const options = { width, theme: theme === "dark" ? ("dark" as const) : ("light" as const) };
  {
    await using entrance = await openConsole(browser, scene.server.url, options);
    await entrance.sees("I have a key");
    await take(entrance, `enter-${width}`, width);
  }
  await using tab = await openConsole(browser, scene.server.url, { ...options, key: scene.key });
  for (const { name, place, shown } of scene.views) {
    await tab.goTo(place);
    await tab.sees(shown);
    await tab.page.waitForFunction('document.querySelector(".skeleton") === null');
    if (name === "try") {
      await tab.fill("Email address", "info@gmial.com");
      await tab.press("Verify");
      await tab.sees("Did you mean");
    }
    await take(tab, `${name}-${width}`, width);
  }
}

/** As high as the view is, so that what stands at the edge of the screen stands at the edge of the picture. */
async function take({ page }: ConsolePage, name: string, width: number): Promise<void> {
  await page.setViewport({ width, height: HEIGHT_PX_MIN });
  const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
  await page.setViewport({ width, height: Math.min(HEIGHT_PX_MAX, Math.max(HEIGHT_PX_MIN, height)) });
  // What the mouse rests on looks different.
  await page.mouse.move(0, 0);
  await page.evaluate("document.activeElement.blur(); document.fonts.ready");
  for (const quality of QUALITIES) {
    const bytes = await page.screenshot({ path: `${join(folder, name)}.webp`, type: "webp", quality });
    if (bytes.byteLength <= BYTES_MAX) break;
  }
  await page.setViewport({ width, height: 900 });
}
