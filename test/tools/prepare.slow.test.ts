import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { devDependencies } from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../support/process.ts";
import { copyProject } from "../support/project-copy.ts";

/** What a newcomer reads where the first start fails, and what the first start installs. */

setDefaultTimeout(120_000);

let copy: ReturnType<typeof copyProject>;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  copy = copyProject();
  folder = temporaryFolder("prepare");
});
afterAll(() => {
  copy[Symbol.dispose]();
  folder[Symbol.dispose]();
});

type Start = { readonly bun?: string; readonly env?: { readonly [name: string]: string } };

function spawnStart({ bun = process.execPath, env = {} }: Start) {
  const { NODE_ENV: _, ...inherited } = process.env;
  return Bun.spawn([bun, "run", "start"], {
    cwd: copy.path,
    // The script calls the Bun that is first in PATH.
    env: {
      ...inherited,
      PATH: `${dirname(bun)}:${process.env.PATH}`,
      PORT: "0",
      DATA_DIR: join(folder.path, "data"),
      ...env,
    },
    timeout: 60_000,
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
}

/** The sentence that a start ends with, without what `bun run` itself writes about the script. */
async function refusalOf(start: Start): Promise<string> {
  const child = spawnStart(start);
  const written = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  const own = written
    .split("\n")
    .filter((line) => line !== "" && !/^(\$ |error: script "start" )/.test(line));
  expect(own.filter((line) => line !== "Installing packages …").length).toBe(1);
  return own.at(-1) ?? "";
}

/** Nothing of the packages is on the machine. */
const emptyCache = () => ({ BUN_INSTALL_CACHE_DIR: join(folder.path, crypto.randomUUID()) });

describe("a first start that fails says why and what to do, in one sentence", () => {
  test("no registry can be reached", async () => {
    const env = { ...emptyCache(), BUN_CONFIG_REGISTRY: "http://127.0.0.1:1/" };
    expect(await refusalOf({ env })).toMatch(
      /^The packages cannot be installed: the registry cannot be reached \(ConnectionRefused\); check the network, .* then run the command again\.$/,
    );
  });

  test("the registry refuses", async () => {
    await using registry = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response("no", { status: 403 }),
    });
    const env = { ...emptyCache(), BUN_CONFIG_REGISTRY: registry.url.href };
    expect(await refusalOf({ env })).toMatch(
      /^The packages cannot be installed: the registry answered 403 for http:\/\/127\.0\.0\.1:\d+\/\S+; check the network/,
    );
  });

  test("package.json was changed by hand", async () => {
    const path = join(copy.path, "package.json");
    const text = await Bun.file(path).text();
    await Bun.write(path, text.replace(/"commander": "[\d.]+"/, '"commander": "1.0.0"'));
    expect(await refusalOf({})).toMatch(
      /bun\.lock does not fit package\.json; undo the change or run `bun install`/,
    );
    await Bun.write(path, text);
  });

  test("the folder of the packages cannot be made", async () => {
    const path = join(copy.path, "node_modules");
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, "");
    expect(await refusalOf({})).toMatch(
      /^The packages cannot be installed: ENOTDIR.*; free the disk or the folder/,
    );
    await Bun.file(path).delete();
  });

  test("Bun is older than package.json asks for", async () => {
    const path = join(copy.path, "package.json");
    const text = await Bun.file(path).text();
    await Bun.write(path, text.replace(/"bun": ">=[\d.]+"/, '"bun": ">=1.99.0"'));
    expect(await refusalOf({})).toStartWith(
      `This needs Bun 1.99.0 or later and runs on ${Bun.version}: run \`bun upgrade\`, or use \`npx -y bun@`,
    );
    await Bun.write(path, text);
  });

  test("an old Bun, where it can be had", async () => {
    const version = "1.1.45";
    const room = join(folder.path, `bun-${version}`);
    const got = Bun.spawnSync(["npm", "install", "--prefix", room, "--silent", `bun@${version}`], {
      stdout: "ignore",
      stderr: "ignore",
      timeout: 60_000,
    });
    if (!got.success) return console.log(`prepare: Bun ${version} cannot be installed here; skipped`);
    expect(await refusalOf({ bun: join(room, "node_modules/.bin/bun") })).toMatch(
      new RegExp(`^This needs Bun 1\\.4\\.1 or later and runs on ${version.replaceAll(".", "\\.")}: run`),
    );
  });
});

test("the first start serves, and installs no development package", async () => {
  const child = spawnStart({ env: { LOG_LEVEL: "silent" } });
  const decoder = new TextDecoder();
  let written = "";
  for await (const bytes of child.stdout) {
    written += decoder.decode(bytes, { stream: true });
    if (written.includes("\nGet a key")) break;
  }
  const url = /listens on (\S+)/.exec(written)?.[1] ?? "";
  const specification = await fetch(`${url}/openapi.json`);
  expect(specification.status).toBe(200);
  expect(await specification.json()).toMatchObject({ openapi: "3.1.0" });
  expect((await fetch(`${url}/docs`)).status).toBe(200);
  process.kill(-child.pid, "SIGTERM");
  await child.exited;
  const installed = Object.keys(devDependencies).filter((name) =>
    existsSync(join(copy.path, "node_modules", name)),
  );
  expect(installed).toEqual([]);
});
