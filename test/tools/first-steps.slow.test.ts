import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { temporaryFolder } from "../support/process.ts";
import { copyProject } from "../support/project-copy.ts";
import { blocksOf } from "../support/readme.ts";
import { NETWORK_FAILURE, runScript, spawnScript } from "../support/script.ts";

/**
 * The page of first steps, walked by somebody who has a fresh copy, Node.js and empty caches: each of its blocks in
 * turn. Prints the seconds of each; how long it takes is the network's affair, so no time is a failure.
 */

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
/** All that is on the PATH: Node.js, and what every system has. */
const PROGRAMS = ["node", "npm", "npx", "bash", "sh", "env", "cat", "curl", "uname", "mkdir", "printf", "ls"];
const ZONE = `
posteo.de     MX 10 mx.hosts.com
proton.me     MX 10 mx.hosts.com
gmial.com     MX 10 mx.hosts.com
gmail.com     MX 10 mx.hosts.com
yahoo.com     MX 10 mx.hosts.com
mx.hosts.com  A 8.8.8.8
`;
const BUN = /npx -y (bun@\S+) run start/;

const page = await Bun.file(join(ROOT, "src/docs/first-steps.md")).text();
const blocks = blocksOf(page).map(({ text }) => text);
const bunPackage = BUN.exec(page)?.[1] ?? "";
const canWalk = await canFetch();
if (!canWalk) console.log("first steps: no npx, curl or registry here; skipped");

describe.skipIf(!canWalk)("with a fresh copy, Node.js and empty caches", () => {
  let copy: ReturnType<typeof copyProject>;
  let folder: ReturnType<typeof temporaryFolder>;
  let dns: Awaited<ReturnType<typeof startFixtureServer>>;
  let environment: { [name: string]: string };
  let server: ReturnType<typeof spawnScript> | null = null;

  beforeAll(async () => {
    copy = copyProject();
    folder = temporaryFolder("first-steps");
    dns = await startFixtureServer({ zone: ZONE });
    const bin = join(folder.path, "bin");
    mkdirSync(bin);
    for (const name of PROGRAMS) {
      const program = Bun.which(name);
      if (program !== null) symlinkSync(realpathSync(program), join(bin, name));
    }
    environment = {
      PATH: bin,
      HOME: join(folder.path, "home"),
      npm_config_cache: join(folder.path, "npm-cache"),
      BUN_INSTALL_CACHE_DIR: join(folder.path, "bun-cache"),
      DNS_SERVERS: dns.address,
      DATA_DIR: join(folder.path, "data"),
      PORT: "0",
    };
    mkdirSync(environment.HOME ?? "");
  });
  afterAll(async () => {
    if (server !== null) {
      process.kill(-server.pid, "SIGTERM");
      await server.exited;
    }
    await dns.close();
    folder[Symbol.dispose]();
    copy[Symbol.dispose]();
  });

  const options = () => ({ cwd: copy.path, env: environment });
  const run = (script: string) => runScript(script, options());

  test("every step of the page answers", async () => {
    await walk().catch((error: unknown) => {
      if (!NETWORK_FAILURE.test(String(error))) throw error;
      console.log(`first steps: the registry broke off; not walked to the end: ${error}`);
    });
  });

  async function walk(): Promise<void> {
    const [start = "", signup = "", verdict = "", batch = "", file = "", call = "", ...more] = blocks;
    expect(more).toEqual([]);
    const times: string[] = [];
    const timed = async <Result>(name: string, step: () => Promise<Result>): Promise<Result> => {
      const startedMs = performance.now();
      const result = await step();
      times.push(`${name} ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
      return result;
    };

    const url = await timed("server", async () => {
      server = spawnScript(start, options());
      return listening(server);
    });
    const placed = (text: string, key: string) =>
      text.replaceAll("http://127.0.0.1:3000", url).replaceAll("asy_YOUR_KEY", key);
    const key = await timed("key", async () => JSON.parse(await run(placed(signup, ""))).api_key as string);
    expect(JSON.parse(await timed("first verdict", () => run(placed(verdict, key))))).toMatchObject({
      sub_status: "possible_typo",
    });
    expect(JSON.parse(await timed("first batch", () => run(placed(batch, key))))).toMatchObject({ count: 3 });
    await timed("first file", () => run(file));
    expect(await Bun.file(join(copy.path, "first-file-checked.csv")).text()).toMatch(
      /^Name,Email,status,.*\r?\nAda,ada@posteo\.de,deliverable,.*\r?\nAnna,anna@gmial\.com,risky,/,
    );
    expect(await timed("first client call", () => run(placed(call, key)))).toEndWith(
      "risky anna@gmail.com\n",
    );
    console.log(`first steps, empty caches: ${times.join(", ")}`);
  }
});

/** Returns where the server listens, and goes on reading what it says: it ends where nobody does. */
async function listening(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<string> {
  const found = Promise.withResolvers<string>();
  const read = async () => {
    const decoder = new TextDecoder();
    let said = "";
    for await (const part of child.stdout) {
      said += decoder.decode(part, { stream: true });
      const url = /listens on (\S+)/.exec(said)?.[1];
      if (url !== undefined && said.includes("\nGet a key")) found.resolve(url);
    }
    found.reject(new Error(`The server ended: ${said}`));
  };
  void read().catch(found.reject);
  return found.promise;
}

/** Whether there is a registry that has the Bun of the page. */
async function canFetch(): Promise<boolean> {
  if (["node", "npx", "npm", "curl"].some((name) => Bun.which(name) === null)) return false;
  const view = Bun.spawn(["timeout", "60", "npm", "view", bunPackage, "version"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return (await view.exited) === 0;
}
