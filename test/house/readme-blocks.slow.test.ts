import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ALLOCATOR } from "../../bench/load/processes.ts";
import { readInferenceServiceConfig } from "../../src/app/inference-settings.ts";
import { readConfig } from "../../src/app/settings.ts";
import { readModels } from "../../src/inference/model-table.ts";
import { freePort } from "../support/free-port.ts";
import { jsonOf } from "../support/json.ts";
import { changedIn } from "../support/project-copy.ts";
import { type Reader, startReader } from "../support/reader.ts";
import { type Block, blocksOf, readPages } from "../support/readme.ts";
import { expectPythonReceiver, expectTypeScriptReceiver } from "../support/webhook-receivers.ts";

/**
 * Every fenced block of the README and the pages of src/docs is run by its language, in a copy of the project that has
 * nothing installed. A block of a language that nobody runs fails.
 */

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
/** The blocks of each page, in order. */
const pages = readPages();
const blocksByPage = pages.map(({ path, text }) => ({ path, blocks: blocksOf(text) }));
const blocks = blocksByPage.flatMap((page) => page.blocks);

let reader: Reader;
beforeAll(async () => {
  reader = await startReader();
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
});

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
  "ts receiver": ({ text }) => expectTypeScriptReceiver(reader.placed(text), reader.project),
  "python receiver": async ({ text }) => {
    if (Bun.which("python3") === null) return console.log("readme: no python3 here; its receiver is skipped");
    await expectPythonReceiver(text, reader.folder);
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

test("running all this changes no file of the project", async () => {
  expect(await changedIn(reader.project)).toEqual([]);
});

/** What is shown below commands must be what they answer. */
async function runShell(block: Block): Promise<void> {
  const printed = await reader.runCommands(block.text);
  const shown = blocks[blocks.indexOf(block) + 1];
  if (printed !== null && shown?.language === "json" && shown.below === "sh")
    expect(shapeOf(printed)).toEqual(shapeOf(shown.text));
}

/** The block stands in the section of the error code that it is refused with. */
async function runRefused(block: Block): Promise<void> {
  const page = pages.find(({ text }) => text.includes(block.text))?.text ?? "";
  const code = /[\s\S]*\n## (\w+)\n/.exec(page.slice(0, page.indexOf(block.text)))?.[1];
  expect(JSON.parse(await reader.run(reader.placed(block.text)))).toMatchObject({ error: { code } });
}

async function runTaken(block: Block): Promise<void> {
  expect(JSON.parse(await reader.run(reader.placed(block.text)))).not.toHaveProperty("error");
}

async function runProgram({ text, line }: Block): Promise<void> {
  const file = join(reader.project, `program-${line}-${Bun.hash(text).toString(36)}.ts`);
  await Bun.write(file, reader.placed(text));
  await reader.run(`bun ${file}`);
}

async function runPython({ text, line }: Block): Promise<void> {
  if (Bun.which("python3") === null) return console.log(`readme: no python3 here; line ${line} is skipped`);
  const file = join(reader.folder, `program-${line}.py`);
  await Bun.write(file, reader.placed(text));
  expect(await reader.run(`python3 ${file}`)).not.toBe("");
}

/** Has nginx check the file, serves with it, and calls the server through it with TLS. */
async function runNginx({ text }: Block): Promise<void> {
  if (NGINX === null) throw new Error("nginx is not installed");
  const [certificate, key] = [join(reader.folder, "proxy.pem"), join(reader.folder, "proxy.key")];
  const subject = "-subj /CN=assay.example.com -days 1";
  await reader.run(
    `openssl req -x509 -newkey rsa:2048 -nodes ${subject} -keyout ${key} -out ${certificate} 2>&1`,
  );
  const port = await freePort();
  const site = reader
    .placed(text)
    .replace("443", `127.0.0.1:${port}`)
    .replace("/etc/ssl/assay.pem", certificate)
    .replace("/etc/ssl/assay.key", key);
  const file = join(reader.folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${reader.folder}/nginx-${name};`,
  );
  await Bun.write(
    file,
    `daemon off; pid ${reader.folder}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${paths.join(" ")}\n${site}}`,
  );
  await reader.run(`${NGINX} -t -c ${file} 2>&1`);
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
  const headers = { Authorization: `Bearer ${reader.apiKey}`, "Content-Type": "text/plain" };
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
        Authorization: `Bearer ${reader.apiKey}`,
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

/** Has Caddy check the file, serves with it and a certificate of its own making, and calls the server through it. */
async function runCaddy({ text }: Block): Promise<void> {
  if (CADDY === null) throw new Error("Caddy is not installed");
  const file = join(reader.folder, "Caddyfile");
  const port = await freePort();
  const site = reader
    .placed(text)
    .replace("127.0.0.1:3000", new URL(reader.server.url).host)
    .replace("assay.example.com {", `https://127.0.0.1:${port} {\n    tls internal`);
  const options = ["admin off", "auto_https disable_redirects", "skip_install_trust"];
  await Bun.write(file, text);
  await reader.run(`caddy validate --adapter caddyfile --config ${file}`);
  await Bun.write(
    file,
    `{\n    ${options.join("\n    ")}\n    storage file_system ${reader.folder}/caddy\n}\n${site}`,
  );
  const proxy = Bun.spawn([CADDY, "run", "--adapter", "caddyfile", "--config", file], {
    env: {
      ...reader.environment,
      HOME: reader.folder,
      XDG_CONFIG_HOME: reader.folder,
      XDG_DATA_HOME: reader.folder,
    },
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

  const executable = join(reader.project, "dist/assay");
  expect(unit.get("ExecStart")).toBe("/usr/local/bin/assay");
  await reader.expectServing(executable, { ...settings, DATA_DIR: join(reader.folder, "unit"), PORT: "0" });

  if (Bun.which("systemd-analyze") === null) {
    console.log("readme: no systemd-analyze here; the unit is checked by its keys alone");
    return;
  }
  const file = join(reader.folder, "assay.service");
  await Bun.write(file, text.replace("/usr/local/bin/assay", executable));
  const complaints = await reader.run(`systemd-analyze verify ${file} 2>&1 | grep assay.service || true`);
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
