import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { changedIn } from "./project-copy.ts";
import { COMMAND, type Reader, startReader } from "./reader.ts";
import { blocksOf, inlineCodesOf, readPages } from "./readme.ts";
import { NETWORK_FAILURE, spawnScript } from "./script.ts";

/** The commands between backticks in the README and the pages of src/docs, and those of them that no block holds. */
export function commandsInText(): { readonly all: readonly string[]; readonly alone: readonly string[] } {
  const pages = readPages();
  const codes = new Set(pages.flatMap(({ text }) => inlineCodesOf(text)));
  const all = [...codes].filter((code) => COMMAND.test(code) && !code.includes("…"));
  const blocks = pages.flatMap(({ text }) => blocksOf(text));
  const shells = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const isPart = (command: string, text: string) => `${text} `.replaceAll("\n", " ").includes(`${command} `);
  const inBlocks = (command: string) => shells.some((text) => isPart(command, text));
  return { all, alone: all.filter((command) => !inBlocks(command)) };
}

/** What runs the built executable. */
const EXECUTABLE = /\bassay(?: |$)/;

/** Has each of them run, in a copy of the project that has nothing installed. */
export function describeCommands(what: string, commands: readonly string[]): void {
  const isExecutableAsked = commands.some((command) => EXECUTABLE.test(command));
  let reader: Reader;
  beforeAll(async () => {
    reader = await startReader();
    if (isExecutableAsked) await reader.run("bun run build");
  });
  afterAll(async () => {
    await reader[Symbol.asyncDispose]();
  });

  describe(what, () => {
    for (const [number, command] of commands.entries()) {
      test(`is run: ${command}`, async () => {
        if (command === "bun run bench:peers" && !(await hasPeers(reader))) return;
        const account = command.includes(" ACCOUNT") ? await newAccount(reader, number) : "";
        const text = filledIn(reader, command, number).replace(/\bACCOUNT\b/, account);
        await reader.runCommands(text);
      });
    }

    test("changes no file of the project", async () => {
      expect(await changedIn(reader.project)).toEqual([]);
    });
  });
}

/** Scans exit with 1 below grade B, which a server that nobody pays is. */
const SCAN = /^bun run scan \S+$/;

/** Puts files where the text says FILE, this server where it says a service, and takes a line of a crontab as cron does. */
function filledIn(reader: Reader, command: string, number: number): string {
  if (SCAN.test(command)) return `bun run scan ${reader.server.url} --allow-private || [ $? -eq 1 ]`;
  return command
    .replace(/^(?:[\d*]+ ){5}/, "")
    .replaceAll("\\%", "%")
    .replace(/\bACTION\b/, "list")
    .replace(/\bFILE\b/, command.includes("verify") ? "people.csv" : join(reader.folder, `made-${number}`));
}

/** Opens an account for a command to act on; returns its id. */
async function newAccount(reader: Reader, number: number): Promise<string> {
  const email = `acted-on-${number}@posteo.de`;
  return (await createClient({ baseUrl: reader.server.url }).signUp({ email })).account_id;
}

/** Those packages are the only ones that the install of the project does not bring. */
async function hasPeers(reader: Reader): Promise<boolean> {
  const install = spawnScript("timeout 100 bun install --cwd bench/peers --frozen-lockfile --silent", {
    cwd: reader.project,
    env: reader.environment,
  });
  const [complaint, code] = await Promise.all([new Response(install.stderr).text(), install.exited]);
  if (code === 0) return true;
  if (!NETWORK_FAILURE.test(complaint)) throw new Error(`bench/peers cannot be installed: ${complaint}`);
  console.log("readme: the packages of bench/peers cannot be installed here; bun run bench:peers is skipped");
  return false;
}
