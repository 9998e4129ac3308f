import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { EMAIL_SUB_STATUSES } from "../../src/email/email-verification.ts";
import { REASONS } from "../../src/email/reasons.ts";
import { SYNTAX_FAULTS } from "../../src/email/syntax-fault.ts";
import { ERRORS } from "../../src/errors.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The cells of the first column of the table whose head begins with `head`, without their code marks. */
function firstColumn(head: string): string[] {
  const from = readme.indexOf(`| ${head} |`);
  if (from === -1) throw new Error(`README has no table | ${head} |`);
  const end = readme.indexOf("\n\n", from);
  return [...readme.slice(from, end).matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? "");
}

/** Fenced blocks of a language, in order. */
function blocks(language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...readme.matchAll(pattern)].map((match) => match[1] ?? "");
}

describe("the tables", () => {
  test("list every setting with its default, and no other", async () => {
    const names = new Set<string>();
    readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }), 1);
    expect(firstColumn("name | default").toSorted()).toEqual([...names].toSorted());
    const source = await Bun.file(join(ROOT, "src/config.ts")).text();
    for (const [, name, fallback] of source.matchAll(/settings\.(?:integer|flag)\("([A-Z_]+)", ([\w]+)/g)) {
      if (fallback !== "cores")
        expect(readme).toContain(`| \`${name}\` | ${fallback?.replaceAll("_", "")} |`);
    }
  });

  test("list every error code with its status, and no other", () => {
    expect(firstColumn("code | status").toSorted()).toEqual(Object.keys(ERRORS).toSorted());
    for (const [code, { status }] of Object.entries(ERRORS))
      expect(readme).toContain(`| \`${code}\` | ${status} |`);
  });

  test("list every sub-status, reason and fault of an email result, and no other", () => {
    expect(firstColumn("sub_status | status").toSorted()).toEqual([...EMAIL_SUB_STATUSES].toSorted());
    const reasons = [...firstColumn("reason | points"), ...firstColumn("fault | meaning")];
    expect(reasons.toSorted()).toEqual(Object.keys(REASONS).toSorted());
    expect(firstColumn("fault | meaning")).toEqual([...SYNTAX_FAULTS]);
  });

  test("list every route, and no other", async () => {
    await using server = await startTestServer();
    const specification = (await (await server.call("/openapi.json")).json()) as {
      paths: { [path: string]: { [method: string]: unknown } };
    };
    const served = Object.entries(specification.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(firstColumn("route | what it does").toSorted()).toEqual([...served, "GET /docs"].toSorted());
  });
});

describe("the commands", () => {
  test("that bun runs are scripts of the package", async () => {
    const { scripts } = await Bun.file(join(ROOT, "package.json")).json();
    const named = [
      ...blocks("sh")
        .join("\n")
        .matchAll(/\bbun(?:@1\.4\.5)? run ([\w:]+)/g),
    ].map((match) => match[1]);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((name) => name !== undefined && !(name in scripts))).toEqual([]);
  });

  const folder = mkdtempSync(join(tmpdir(), "assay-readme-"));
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ zone: README_ZONE });
    for (const [name, text] of Object.entries(README_FILES)) await Bun.write(join(folder, name), text);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** Runs a block as it stands, but for where the server and the project are. */
  async function runBlock(block: string): Promise<string> {
    const script = block
      .replaceAll("http://127.0.0.1:3000", server.url)
      .replaceAll("/var/lib/assay", server.dataDir)
      .replaceAll("/backups/", `${folder}/`)
      .replace(
        /\bbun run (verify|demo)\b/g,
        (_, name) => `${process.execPath} ${ROOT}/src/${FOLDERS[name]}/main.ts`,
      )
      .replace(/\bbun run backup\b/g, `${process.execPath} ${ROOT}/src/backup.ts`);
    const child = Bun.spawn(["bash", "-ec", script], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", DNS_SERVERS: server.dns.address, DATA_DIR: server.dataDir },
      stdout: "pipe",
      stderr: "pipe",
    });
    const printed = await new Response(child.stdout).text();
    const complaint = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`${block}${complaint}`);
    return printed;
  }

  const runnable = blocks("sh").filter((block) => /\bcurl\b|\bbun run (?:verify|demo|backup)\b/.test(block));

  test("can be run as they stand, and answer what stands below them", async () => {
    expect(runnable.length).toBeGreaterThanOrEqual(4);
    for (const block of runnable) {
      const printed = await runBlock(block);
      const shown = replyBelow(block);
      if (shown !== null) expect(shapeOf(printed)).toEqual(shapeOf(shown));
    }
  });

  test("the first of them starts a server that answers, and stops when it is told to", async () => {
    const child = Bun.spawn([process.execPath, "run", "start"], {
      cwd: ROOT,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
        HOME: process.env.HOME ?? folder,
        PORT: "0",
        DATA_DIR: join(folder, "started"),
        DNS_SERVERS: server.dns.address,
      },
      stdout: "pipe",
      stderr: "ignore",
    });
    const reader = child.stdout.getReader();
    let said = "";
    while (!said.includes("\nGet a key")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`bun run start ended: ${said}`);
      said += new TextDecoder().decode(value);
    }
    const url = /listens on (\S+)/.exec(said)?.[1];
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    reader.releaseLock();
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });

  test("and programs of TypeScript run as they stand", async () => {
    const programs = blocks("ts");
    expect(programs.length).toBeGreaterThan(0);
    for (const [number, program] of programs.entries()) {
      const file = join(folder, `program-${number}.ts`);
      const text = program.replaceAll('"./src/', `"${ROOT}/src/`);
      await Bun.write(file, `const baseUrl = ${JSON.stringify(server.url)};\n${text}`);
      const child = Bun.spawn([process.execPath, file], { stdout: "pipe", stderr: "pipe" });
      const complaint = await new Response(child.stderr).text();
      expect({ exitCode: await child.exited, complaint }).toMatchObject({ exitCode: 0 });
    }
  });
});

const FOLDERS: { readonly [command: string]: string } = { verify: "cli", demo: "demo" };

const README_FILES: { readonly [name: string]: string } = {
  "people.csv": "Name,Work email\nAda,ada@posteo.de\nBen,info@proton.me\n",
  "ibans.txt": "DE89 3704 0044 0532 0130 00\nGB82 WEST 1234 5698 7654 32\n",
  "customers.csv": "phone\n(11) 98765-4321\n",
};

/** The json block that follows a command, or null. */
function replyBelow(command: string): string | null {
  const rest = readme.slice(readme.indexOf(command) + command.length);
  const match = /^```\n\s*```json\n([\s\S]*?)^```$/m.exec(rest);
  return match !== null && match.index === 0 ? (match[1] ?? null) : null;
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
