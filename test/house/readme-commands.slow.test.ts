import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import packageFile from "../../package.json" with { type: "json" };
import { createClient } from "../../src/client/client.ts";
import { changedIn } from "../support/project-copy.ts";
import { COMMAND, type Reader, startReader } from "../support/reader.ts";
import { blocksOf, inlineCodesOf, readPages } from "../support/readme.ts";
import { spawnScript } from "../support/script.ts";

/**
 * Every command between backticks in the README and the pages of src/docs that no block holds is run, in a copy of the
 * project that has nothing installed.
 */

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
const pages = readPages();

let reader: Reader;
beforeAll(async () => {
  reader = await startReader();
  await reader.run("bun run build");
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
});

describe("every command within the text of the README and the pages", () => {
  const codes = new Set(pages.flatMap(({ text }) => inlineCodesOf(text)));
  const commands = [...codes].filter((code) => COMMAND.test(code) && !code.includes("…"));
  const blocks = pages.flatMap(({ text }) => blocksOf(text));
  const shells = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const isPart = (command: string, text: string) => `${text} `.replaceAll("\n", " ").includes(`${command} `);
  const inBlocks = (command: string) => shells.some((text) => isPart(command, text));

  test("is found", () => {
    expect(commands).toEqual(expect.arrayContaining(["bun run bench", "bun run eval", "assay verify FILE"]));
    expect(commands.filter(inBlocks)).not.toEqual([]);
  });

  for (const [number, command] of commands.filter((each) => !inBlocks(each)).entries()) {
    test(`is run: ${command}`, async () => {
      if (command === "bun run bench:peers" && !(await hasPeers())) return;
      const account = command.includes(" ACCOUNT") ? await newAccount(number) : "";
      const text = filledIn(command, number).replace(/\bACCOUNT\b/, account);
      await reader.runCommands(text);
    });
  }
});

test("running all this changes no file of the project", async () => {
  expect(await changedIn(reader.project)).toEqual([]);
});

test("CONTRIBUTING names scripts, tests and variables that there are", async () => {
  const { scripts } = packageFile;
  const commands = inlineCodesOf(await Bun.file(join(ROOT, ".github/CONTRIBUTING.md")).text()).filter(
    (code) => COMMAND.test(code),
  );
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) {
    const [, variable, name] = /^(?:([A-Z_]+)=\S+ )?(?:bun run|bun test|bun|bash) (\S+)$/.exec(command) ?? [];
    const isThere = name !== undefined && (name in scripts || existsSync(join(ROOT, name)));
    expect([command, isThere]).toEqual([command, true]);
    if (variable !== undefined) expect(await Bun.file(join(ROOT, name ?? "")).text()).toContain(variable);
  }
});

/** Scans exit with 1 below grade B, which a server that nobody pays is. */
const SCAN = /^bun run scan \S+$/;

/** Puts files where the text says FILE, this server where it says a service, and takes a line of a crontab as cron does. */
function filledIn(command: string, number: number): string {
  if (SCAN.test(command)) return `bun run scan ${reader.server.url} --allow-private || [ $? -eq 1 ]`;
  return command
    .replace(/^(?:[\d*]+ ){5}/, "")
    .replaceAll("\\%", "%")
    .replace(/\bACTION\b/, "list")
    .replace(/\bFILE\b/, command.includes("verify") ? "people.csv" : join(reader.folder, `made-${number}`));
}

/** Opens an account for a command to act on; returns its id. */
async function newAccount(number: number): Promise<string> {
  const email = `acted-on-${number}@posteo.de`;
  return (await createClient({ baseUrl: reader.server.url }).signUp({ email })).account_id;
}

/** Those packages are the only ones that the install of the project does not bring. */
async function hasPeers(): Promise<boolean> {
  const install = spawnScript("timeout 100 bun install --cwd bench/peers --frozen-lockfile --silent", {
    cwd: reader.project,
    env: reader.environment,
  });
  if ((await install.exited) === 0) return true;
  console.log("readme: the packages of bench/peers cannot be installed here; bun run bench:peers is skipped");
  return false;
}
