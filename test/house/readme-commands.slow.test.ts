import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ALLOCATOR } from "../../bench/load/processes.ts";
import packageFile from "../../package.json" with { type: "json" };
import { readInferenceServiceConfig } from "../../src/app/inference-settings.ts";
import { readConfig } from "../../src/app/settings.ts";
import { createClient } from "../../src/client/client.ts";
import { installLocalChains } from "../../src/demo/local-chains.ts";
import { readModels } from "../../src/inference/model-table.ts";
import { jsonOf } from "../support/json.ts";
import { isPostgresInstalled, startPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";
import { copyProject } from "../support/project-copy.ts";
import { type Block, blocksOf, inlineCodesOf, readPages } from "../support/readme.ts";
import { runScript, spawnScript } from "../support/script.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { expectPythonReceiver, expectTypeScriptReceiver } from "../support/webhook-receivers.ts";

/**
 * Everything in the README and the pages of src/docs that can be run is run, in a copy of the project that has nothing installed: every
 * fenced block by its language, and every command between backticks that no block holds. A block of a language that
 * nobody runs fails.
 */

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
const pages = readPages();
/** The blocks of each page, in order. */
const blocksByPage = pages.map(({ path, text }) => ({ path, blocks: blocksOf(text) }));
const blocks = blocksByPage.flatMap((page) => page.blocks);

const COMMAND =
  /^(?:(?:[\d*]+ ){5})?(?:[A-Z_]+=\S+ )*(?:bun|npx|npm|node|git|assay|dist\/assay|bash|sh|curl|systemctl)(?: |$)/;
/** Commands that go on until they are stopped. */
const SERVES = /(?:\bstart|\bassay|\bscan-service|\binference-service|\bcluster --nodes \d+)$/;

/** What needs chains of its own. */
const CHAINS = "bun run demo --inference";

/** The address of a database that stands for the reader's. */
const POSTGRES = /postgres:\/\/\S+/;

const isClusterInstalled =
  isPostgresInstalled && Bun.which("haproxy", { PATH: "/usr/sbin:/usr/bin" }) !== null;

/** What takes minutes is run in its quick form, and of the tests a few: all of them are running already. */
const QUICK: readonly (readonly [RegExp, string])[] = [
  [/\bbun run bench:jobs\b/g, "$& 20000"],
  [/\bbun run bench(?!:jobs)[\w:]*/g, "$& --quick"],
  // The checkout itself stands for another.
  [/\bbun run bench:against --quick/g, "$& ."],
  [/\bbun bench\/(?:directory|load\/steps)\.ts/g, "$& --quick"],
  [/\bbun bench\/eval\/phones\.ts$/gm, "$& --count 20000"],
  [/\brun test$/gm, "$& test/verification/email/role.test.ts"],
  [
    /\bbun test test\/faults\/tenants-shares\S+$/gm,
    '$& --test-name-pattern "none of them" --pass-with-no-tests',
  ],
  // Of one file: where no test of a file is run, nothing ends what the file has started.
  [/\bbun test test\/faults$/gm, '$&/large-bodies.test.ts --test-name-pattern "of exactly the limit"'],
];

let copy: ReturnType<typeof copyProject>;
let folder: ReturnType<typeof temporaryFolder>;
let server: TestServer;
let environment: { [name: string]: string };
let apiKey = "";

/** What stands for the reader's key. */
const SAMPLE_KEY = "asy_YOUR_KEY";

beforeAll(async () => {
  copy = copyProject();
  folder = temporaryFolder("readme");
  server = await startTestServer({ zone: README_ZONE });
  const signedUp = await createClient({ baseUrl: server.url }).signUp({
    email: "reader@posteo.de",
    plan: "scale",
  });
  apiKey = signedUp.api_key;
  for (const [name, text] of Object.entries(README_FILES)) await Bun.write(join(copy.path, name), text);
  const programs = join(folder.path, "bin");
  mkdirSync(programs);
  symlinkSync(process.execPath, join(programs, "bun"));
  symlinkSync(join(copy.path, "dist/assay"), join(programs, "assay"));
  const { NODE_ENV: _, ...inherited } = process.env;
  environment = {
    ...(inherited as { [name: string]: string }),
    PATH: `${programs}:${process.env.PATH}`,
    DNS_SERVERS: server.dns.address,
    DATA_DIR: server.dataDir,
    HOST: "127.0.0.1",
    PORT: "0",
    // That benches run is what is seen here.
    BENCH_QUICK_SCALE: "0.02",
  };
  const exported = ["client", "failure", "webhook"].map(
    (name) => `export * from "./src/client/${name}.ts";\n`,
  );
  await Bun.write(join(copy.path, "client-package.ts"), exported.join(""));
  await run("bun install --frozen-lockfile --silent");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
  copy[Symbol.dispose]();
});

/** What blocks write: each begins without it, as on a reader's machine. */
const OUTPUTS = ["checked.csv", "checked-by-npx.csv", "checked-by-job.csv", "bad.csv", "phones.ndjson"];

const NGINX =
  Bun.which("openssl") === null ? null : Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` });
const CADDY = Bun.which("caddy");
/** Languages of blocks whose program is not here. */
const MISSING = new Set([...(NGINX === null ? ["nginx"] : []), ...(CADDY === null ? ["caddyfile"] : [])]);
for (const language of MISSING)
  console.log(`SKIPPED: the ${language} blocks of the pages, whose program is not here`);

/** How a block of each language is held to the truth. */
const RUNNERS: { readonly [language: string]: (block: Block) => Promise<unknown> } = {
  sh: runShell,
  "sh refused": runRefused,
  "sh taken": runTaken,
  json: async (block) => expect(block.below).toBe("sh"),
  env: async ({ text }) => {
    const lines = text.trim().split("\n");
    const models = blocks.find(({ language }) => language === "json models")?.text ?? "";
    const settings = Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
    expect(readInferenceServiceConfig(settings, () => models).port).toBe(Number(settings.PORT));
  },
  "json models": async ({ text }) => expect(readModels(text).ok).toBe(true),
  ts: runProgram,
  python: runPython,
  "ts receiver": ({ text }) => expectTypeScriptReceiver(placed(text), copy.path),
  "python receiver": async ({ text }) => {
    if (Bun.which("python3") === null) return console.log("readme: no python3 here; its receiver is skipped");
    await expectPythonReceiver(text, folder.path);
  },
  ini: runUnit,
  nginx: runNginx,
  caddyfile: runCaddy,
  "": async ({ text }) => expectMap(text),
};

describe("every block of the README and the pages", () => {
  for (const { path, block } of blocksByPage.flatMap((page) =>
    page.blocks.map((block) => ({ path: page.path, block })),
  )) {
    const { language, line, text } = block;
    const title = `is run: ${path}, ${language} at line ${line}, ${text.slice(0, text.indexOf("\n"))}`;
    test.skipIf(MISSING.has(language))(title, async () => {
      const runner = RUNNERS[language];
      if (runner === undefined) throw new Error(`Nobody runs blocks of ${language}`);
      await runner(block);
    });
  }
});

describe("every command within the text of the README and the pages", () => {
  const codes = new Set(pages.flatMap(({ text }) => inlineCodesOf(text)));
  const commands = [...codes].filter((code) => COMMAND.test(code) && !code.includes("…"));
  const shells = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const isPart = (command: string, text: string) => `${text} `.replaceAll("\n", " ").includes(`${command} `);
  const inBlocks = (command: string) => shells.some((text) => isPart(command, text));

  test("is found", () => {
    expect(commands).toEqual(expect.arrayContaining(["bun run bench", "bun run eval", "assay verify FILE"]));
    expect(commands.filter(inBlocks)).not.toEqual([]);
  });

  beforeAll(async () => {
    if (!existsSync(join(copy.path, "dist/assay"))) await run("bun run build");
  });

  for (const [number, command] of commands.filter((each) => !inBlocks(each)).entries()) {
    test(`is run: ${command}`, async () => {
      if (command === "bun run bench:peers" && !(await hasPeers())) return;
      const account = command.includes(" ACCOUNT") ? await newAccount(number) : "";
      const text = filledIn(command, number).replace(/\bACCOUNT\b/, account);
      await runShell({ text, language: "sh", line: 0, below: null });
    });
  }
});

test("running all this changes no file of the project", async () => {
  const listed = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT }).stdout.toString().split("\0");
  const changed: string[] = [];
  for (const file of listed.filter((path) => path !== "" && existsSync(join(ROOT, path)))) {
    const before = Bun.hash(await Bun.file(join(ROOT, file)).bytes());
    if (Bun.hash(await Bun.file(join(copy.path, file)).bytes()) !== before) changed.push(file);
  }
  expect(changed).toEqual([]);
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
  if (SCAN.test(command)) return `bun run scan ${server.url} --allow-private || [ $? -eq 1 ]`;
  return command
    .replace(/^(?:[\d*]+ ){5}/, "")
    .replaceAll("\\%", "%")
    .replace(/\bACTION\b/, "list")
    .replace(/\bFILE\b/, command.includes("verify") ? "people.csv" : join(folder.path, `made-${number}`));
}

/** Opens an account for a command to act on; returns its id. */
async function newAccount(number: number): Promise<string> {
  const email = `acted-on-${number}@posteo.de`;
  return (await createClient({ baseUrl: server.url }).signUp({ email })).account_id;
}

/** Those packages are the only ones that the install of the project does not bring. */
async function hasPeers(): Promise<boolean> {
  const install = spawnScript("timeout 100 bun install --cwd bench/peers --frozen-lockfile --silent", {
    cwd: copy.path,
    env: environment,
  });
  if ((await install.exited) === 0) return true;
  console.log("readme: the packages of bench/peers cannot be installed here; bun run bench:peers is skipped");
  return false;
}

/** The chains of the demo are another package of their own. */
async function withoutChains(script: string): Promise<string> {
  if (!script.includes(CHAINS) || (await installLocalChains())) return script;
  console.log(`readme: the local chains cannot be installed here; ${CHAINS} is skipped`);
  return script.replaceAll(CHAINS, "true");
}

/** Runs commands as they stand, but for where the server is; what is shown below must be what they answer. */
async function runShell(block: Block): Promise<void> {
  const quick = QUICK.reduce((text, [pattern, with_]) => text.replace(pattern, with_), block.text.trimEnd());
  if (/\bmigrate-to-postgres$/.test(quick)) return expectCarried(quick);
  const serves = SERVES.test(quick);
  if (/^npx /.test(quick) && Bun.which("npx") === null) {
    console.log(`readme: no npx here; ${quick} is skipped`);
    return;
  }
  const script = (await withoutChains(quick))
    .replaceAll("http://127.0.0.1:3000", server.url)
    .replaceAll(SAMPLE_KEY, apiKey)
    .replaceAll("/var/lib/assay", serves ? join(folder.path, "served") : server.dataDir)
    .replaceAll("/backups/", `${folder.path}/`);
  if (POSTGRES.test(script)) return expectNode(script);
  if (/\bcluster\b/.test(script) && !isClusterInstalled) {
    return console.log("readme: no PostgreSQL or HAProxy here; the start of a cluster is skipped");
  }
  if (serves) return expectServing(script);
  for (const output of OUTPUTS) rmSync(join(copy.path, output), { force: true });
  const printed = await run(script);
  // curl ends well whatever it is answered.
  expect(printed).not.toContain('{"error":{"code":');
  const shown = blocks[blocks.indexOf(block) + 1];
  if (shown?.language === "json" && shown.below === "sh")
    expect(shapeOf(printed)).toEqual(shapeOf(shown.text));
}

/** The block stands in the section of the error code that it is refused with. */
async function runRefused(block: Block): Promise<void> {
  const page = pages.find(({ text }) => text.includes(block.text))?.text ?? "";
  const code = /[\s\S]*\n## (\w+)\n/.exec(page.slice(0, page.indexOf(block.text)))?.[1];
  expect(JSON.parse(await run(placed(block.text)))).toMatchObject({ error: { code } });
}

async function runTaken(block: Block): Promise<void> {
  expect(JSON.parse(await run(placed(block.text)))).not.toHaveProperty("error");
}

const run = (script: string) => runScript(script, { cwd: copy.path, env: environment });

/** Waits until the command serves, asks it, and stops it; returns how it ended. */
async function expectServing(script: string, more: { readonly [name: string]: string } = {}) {
  const dataDir = /([\w]+)-service$/.exec(script)?.[1] ?? "served";
  const env = { ...environment, DATA_DIR: join(folder.path, dataDir), ...more };
  const child = spawnScript(script, { cwd: copy.path, env });
  const complaint = new Response(child.stderr).text();
  const decoder = new TextDecoder();
  let said = "";
  let url: string | undefined;
  try {
    for await (const part of child.stdout) {
      said += decoder.decode(part, { stream: true });
      if (/listens on \S+\n/.test(said)) break;
    }
    url = /listens on (\S+)/.exec(said)?.[1];
    if (url === undefined) throw new Error(`${script}\ndoes not serve: ${said}${await complaint}`);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  } finally {
    // Also where the test fails: it would run on beside all others.
    if (child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    await child.exited;
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
}

/** The same on a PostgreSQL of its own. */
async function expectNode(script: string): Promise<void> {
  if (!isPostgresInstalled) return console.log("readme: no PostgreSQL here; the start of a node is skipped");
  await using postgres = await startPostgres();
  await expectServing(script.replace(POSTGRES, await postgres.createDatabase()));
}

/** Carries the data directory of a server that has ended. */
async function expectCarried(script: string): Promise<void> {
  if (!isPostgresInstalled) return console.log("readme: no PostgreSQL here; nothing is carried over");
  const dataDir = join(folder.path, "carried");
  await expectServing("bun run start", { DATA_DIR: dataDir });
  await using postgres = await startPostgres();
  const filled = script.replace(POSTGRES, await postgres.createDatabase()).replace("/var/lib/assay", dataDir);
  expect(await run(filled)).toContain("All of it is in PostgreSQL");
}

/** Puts in this server, this key, and the client's sources for its package. */
function placed(text: string): string {
  return text
    .replaceAll("http://127.0.0.1:3000", server.url)
    .replaceAll(SAMPLE_KEY, apiKey)
    .replaceAll('"assay-client"', '"./client-package.ts"');
}

async function runProgram({ text, line }: Block): Promise<void> {
  const file = join(copy.path, `program-${line}-${Bun.hash(text).toString(36)}.ts`);
  await Bun.write(file, placed(text));
  await run(`bun ${file}`);
}

async function runPython({ text, line }: Block): Promise<void> {
  if (Bun.which("python3") === null) return console.log(`readme: no python3 here; line ${line} is skipped`);
  const file = join(folder.path, `program-${line}.py`);
  await Bun.write(file, placed(text));
  expect(await run(`python3 ${file}`)).not.toBe("");
}

/** Has nginx check the file, serves with it, and calls the server through it with TLS. */
async function runNginx({ text }: Block): Promise<void> {
  if (NGINX === null) throw new Error("nginx is not installed");
  const [certificate, key] = [join(folder.path, "proxy.pem"), join(folder.path, "proxy.key")];
  const subject = "-subj /CN=assay.example.com -days 1";
  await run(`openssl req -x509 -newkey rsa:2048 -nodes ${subject} -keyout ${key} -out ${certificate} 2>&1`);
  const port = freePort();
  const site = placed(text)
    .replace("443", `127.0.0.1:${port}`)
    .replace("/etc/ssl/assay.pem", certificate)
    .replace("/etc/ssl/assay.key", key);
  const file = join(folder.path, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder.path}/nginx-${name};`,
  );
  await Bun.write(
    file,
    `daemon off; pid ${folder.path}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${paths.join(" ")}\n${site}}`,
  );
  await run(`${NGINX} -t -c ${file} 2>&1`);
  const proxy = Bun.spawn([NGINX, "-c", file], { stdout: "ignore", stderr: "ignore" });
  try {
    const reply = await proxied(`https://127.0.0.1:${port}/v1/email/batch`);
    expect(reply.status).toBe(200);
    expect((await reply.text()).trim().split("\n").length).toBe(201);
    expect(await uploadPart(`https://127.0.0.1:${port}`)).toBe(204);
  } finally {
    proxy.kill();
    await proxy.exited;
  }
}

/** Sends a part of an upload that is larger than any batch; returns its status. */
async function uploadPart(address: string): Promise<number> {
  const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "text/plain" };
  const tls = { rejectUnauthorized: false };
  const upload = await fetch(`${address}/v1/jobs?upload=parts`, { method: "POST", headers, tls });
  const { job_id: jobId } = await jsonOf<{ job_id: string }>(upload);
  const body = "user@posteo.de\n".repeat(3_000_000);
  return (await fetch(`${address}/v1/jobs/${jobId}/parts/1`, { method: "PUT", headers, body, tls })).status;
}

/** Sends a batch as soon as the proxy listens. */
async function proxied(url: string): Promise<Response> {
  const emails = Array.from({ length: 200 }, (_, number) => `user${number}@posteo.de`);
  for (;;) {
    const reply = await fetch(url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${apiKey}`,
        "Content-Type": "application/json",
        Accept: "application/x-ndjson",
      },
      body: JSON.stringify({ emails }),
      tls: { rejectUnauthorized: false },
    }).catch(() => null);
    if (reply !== null) return reply;
    await Bun.sleep(20);
  }
}

function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** Has Caddy check the file, serves with it and a certificate of its own making, and calls the server through it. */
async function runCaddy({ text }: Block): Promise<void> {
  if (CADDY === null) throw new Error("Caddy is not installed");
  const file = join(folder.path, "Caddyfile");
  const port = freePort();
  const site = placed(text)
    .replace("127.0.0.1:3000", new URL(server.url).host)
    .replace("assay.example.com {", `https://127.0.0.1:${port} {\n    tls internal`);
  const options = ["admin off", "auto_https disable_redirects", "skip_install_trust"];
  await Bun.write(file, text);
  await run(`caddy validate --adapter caddyfile --config ${file}`);
  await Bun.write(
    file,
    `{\n    ${options.join("\n    ")}\n    storage file_system ${folder.path}/caddy\n}\n${site}`,
  );
  const proxy = Bun.spawn([CADDY, "run", "--adapter", "caddyfile", "--config", file], {
    env: { ...environment, HOME: folder.path, XDG_CONFIG_HOME: folder.path, XDG_DATA_HOME: folder.path },
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    const reply = await proxied(`https://127.0.0.1:${port}/v1/email/batch`);
    expect([reply.status, reply.headers.get("server")]).toEqual([200, "Caddy"]);
    expect((await reply.text()).trim().split("\n").length).toBe(201);
  } finally {
    proxy.kill();
    await proxy.exited;
  }
}

/** What systemd.service(5) and systemd.exec(5) know of what the unit uses. */
const UNIT_KEYS = ["ExecStart", "Environment", "StateDirectory", "DynamicUser", "TimeoutStopSec", "Restart"];

/** Starts what the unit starts, in the environment that it sets; where there is a systemd, asks it, too. */
async function runUnit({ text }: Block): Promise<void> {
  const [section, ...lines] = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const unit = new Map(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  expect(section).toBe("[Service]");
  expect([...unit.keys()].filter((key) => !UNIT_KEYS.includes(key))).toEqual([]);

  const settings = Object.fromEntries(
    (unit.get("Environment") ?? "").split(" ").map((pair) => pair.split("=")),
  );
  const asked = new Set<string>();
  readConfig(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }), 1);
  const unasked = Object.keys(settings).filter((name) => !asked.has(name));
  // Read by the runtime's allocator before any of our code runs.
  expect(unasked).toEqual(Object.keys(ALLOCATOR));
  expect(settings.DATA_DIR).toBe(`/var/lib/${unit.get("StateDirectory")}`);
  expect(Number(unit.get("TimeoutStopSec")) * 1000).toBeGreaterThan(readConfig(settings, 1).shutdownGraceMs);

  const executable = join(copy.path, "dist/assay");
  expect(unit.get("ExecStart")).toBe("/usr/local/bin/assay");
  await expectServing(executable, { ...settings, DATA_DIR: join(folder.path, "unit"), PORT: "0" });

  if (Bun.which("systemd-analyze") === null) {
    console.log("readme: no systemd-analyze here; the unit is checked by its keys alone");
    return;
  }
  const file = join(folder.path, "assay.service");
  await Bun.write(file, text.replace("/usr/local/bin/assay", executable));
  const complaints = await run(`systemd-analyze verify ${file} 2>&1 | grep assay.service || true`);
  expect(complaints).toBe("");
}

/** The map of the sources names every file and folder of `src/`, and no other. */
function expectMap(text: string): void {
  const lines = text.split("\n").filter((line) => line.startsWith("  "));
  const named = lines.flatMap(
    (line) => /^ {2}((?:[\w-]+(?:\.ts|\/) +)+)/.exec(`${line} `)?.[1]?.trim().split(/ +/) ?? [],
  );
  const present = readdirSync(join(ROOT, "src"), { withFileTypes: true });
  const expected = present.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  expect(named.toSorted()).toEqual(expected.toSorted());
  const tops = text.split("\n").flatMap((line) => /^([\w-]+)\//.exec(line)?.[1] ?? []);
  expect(tops.filter((top) => !existsSync(join(ROOT, top)))).toEqual([]);
}

const README_FILES: { readonly [name: string]: string } = {
  "people.csv": "Name,Work email\nAda,ada@posteo.de\nBen,info@proton.me\n",
  "ibans.txt": "DE89 3704 0044 0532 0130 00\nGB82 WEST 1234 5698 7654 32\n",
  "customers.csv": "phone\n(11) 98765-4321\n",
};

/** Lines of JSON, with what differs from run to run written alike. */
function shapeOf(text: string): unknown[] {
  const alike = text
    .replace(/"account_id":"[^"]+"/, '"account_id":"…"')
    .replace(/"api_key":"asy_[0-9A-Za-z]{36}"/, '"api_key":"…"');
  return alike
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The DNS as it stands for the domains that the README names, on hosts that answer here. */
const README_ZONE = `
posteo.de         MX 10 mx.hosts.com
gmail.com         MX 5 gmail-smtp-in.l.google.com
proton.me         MX 10 mail.protonmail.ch
outlook.com       MX 5 outlook-com.olc.protection.outlook.com
mailinator.com    MX 1 mail.mailinator.com
yahoo.com         MX 1 mta5.am0.yahoodns.net
gmial.com         MX 10 mx.hosts.com
example.com       MX 0 .
postmark-reports.com MX 10 mx.hosts.com
mx.hosts.com      A 8.8.8.8
gmail-smtp-in.l.google.com A 8.8.8.8
mail.protonmail.ch A 8.8.8.8
outlook-com.olc.protection.outlook.com A 8.8.8.8
mail.mailinator.com A 8.8.8.8
mta5.am0.yahoodns.net A 8.8.8.8
`;
