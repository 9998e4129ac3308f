import { expect } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { installLocalChains } from "../../src/demo/local-chains.ts";
import { isPostgresInstalled, startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./process.ts";
import { copyProject } from "./project-copy.ts";
import { endScript, isAnyLeftWith, runScript, spawnScript } from "./script.ts";
import { startTestServer, type TestServer } from "./server.ts";

/** What somebody has who reads the README: a copy of the project, a server, an account on it, and a shell. */
export type Reader = AsyncDisposable & {
  /** The copy: nothing is installed in it but its packages. */
  readonly project: string;
  /** For what is made on the way. */
  readonly folder: string;
  readonly server: TestServer;
  readonly apiKey: string;
  readonly environment: { readonly [name: string]: string };
  /** Runs a script in the copy, and returns what it printed. */
  readonly run: (script: string) => Promise<string>;
  /** Puts in this server, this key, and the client's sources for its package. */
  readonly placed: (text: string) => string;
  /** Runs commands as they stand, but for where the server is; returns what they print, null where they serve or are skipped. */
  readonly runCommands: (text: string) => Promise<string | null>;
  /** Waits until a command serves, asks it, and stops it. */
  readonly expectServing: (script: string, more?: { readonly [name: string]: string }) => Promise<void>;
};

/** What a reader types. */
export const COMMAND =
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

/** What stands for the reader's key. */
const SAMPLE_KEY = "asy_YOUR_KEY";

/** What blocks write: each begins without it, as on a reader's machine. */
const OUTPUTS = ["checked.csv", "checked-by-npx.csv", "checked-by-job.csv", "bad.csv", "phones.ndjson"];

/** Starts a server and installs the packages of a copy. */
export async function startReader(): Promise<Reader> {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(copyProject()).path;
  const folder = stack.use(temporaryFolder("readme")).path;
  const server = stack.use(await startTestServer({ zone: README_ZONE }));
  const client = createClient({ baseUrl: server.url });
  const { api_key: apiKey } = await client.signUp({ email: "reader@posteo.de", plan: "scale" });
  const environment = await prepare({ project, folder, server });
  const run = (script: string) => runScript(script, { cwd: project, env: environment });
  await run("bun install --frozen-lockfile --silent");
  const held = stack.move();
  const commands = commandsOf({ project, folder, server, apiKey, environment, run });
  return {
    ...{ project, folder, server, apiKey, environment, run },
    ...commands,
    placed: (text) =>
      text
        .replaceAll("http://127.0.0.1:3000", server.url)
        .replaceAll(SAMPLE_KEY, apiKey)
        .replaceAll('"assay-client"', '"./client-package.ts"'),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

type Place = Pick<Reader, "project" | "folder" | "server">;

/** Writes the files that the text names, and returns the environment of its commands. */
async function prepare({ project, folder, server }: Place): Promise<Reader["environment"]> {
  for (const [name, text] of Object.entries(README_FILES)) await Bun.write(join(project, name), text);
  const exported = ["client", "failure", "webhook"].map(
    (name) => `export * from "./src/client/${name}.ts";\n`,
  );
  await Bun.write(join(project, "client-package.ts"), exported.join(""));
  const programs = join(folder, "bin");
  mkdirSync(programs);
  symlinkSync(process.execPath, join(programs, "bun"));
  symlinkSync(join(project, "dist/assay"), join(programs, "assay"));
  const { NODE_ENV: _, ...inherited } = process.env;
  return {
    ...(inherited as { [name: string]: string }),
    PATH: `${programs}:${process.env.PATH}`,
    DNS_SERVERS: server.dns.address,
    DATA_DIR: server.dataDir,
    HOST: "127.0.0.1",
    PORT: "0",
    // That benches run is what is seen here.
    BENCH_QUICK_SCALE: "0.02",
  };
}

function commandsOf({
  project,
  folder,
  server,
  apiKey,
  environment,
  run,
}: Place & Pick<Reader, "apiKey" | "environment" | "run">): Pick<Reader, "runCommands" | "expectServing"> {
  async function runCommands(text: string): Promise<string | null> {
    const quick = QUICK.reduce((some, [pattern, with_]) => some.replace(pattern, with_), text.trimEnd());
    if (/\bmigrate-to-postgres$/.test(quick)) return expectCarried(quick);
    const serves = SERVES.test(quick);
    if (/^npx /.test(quick) && Bun.which("npx") === null) return skipped(`no npx here; ${quick}`);
    const script = (await withoutChains(quick))
      .replaceAll("http://127.0.0.1:3000", server.url)
      .replaceAll(SAMPLE_KEY, apiKey)
      .replaceAll("/var/lib/assay", serves ? join(folder, "served") : server.dataDir)
      .replaceAll("/backups/", `${folder}/`);
    if (POSTGRES.test(script)) return expectNode(script);
    if (/\bcluster\b/.test(script) && !isClusterInstalled)
      return skipped("no PostgreSQL or HAProxy here; the start of a cluster");
    if (serves) {
      await expectServing(script);
      return null;
    }
    for (const output of OUTPUTS) rmSync(join(project, output), { force: true });
    const printed = await run(script);
    // curl ends well whatever it is answered.
    expect(printed).not.toContain('{"error":{"code":');
    return printed;
  }

  async function expectServing(
    script: string,
    more: { readonly [name: string]: string } = {},
  ): Promise<void> {
    const dataDir = /([\w]+)-service$/.exec(script)?.[1] ?? "served";
    const env = { ...environment, DATA_DIR: join(folder, dataDir), ...more };
    const child = spawnScript(script, { cwd: project, env });
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
      await endScript(child);
    }
    // The port alone does not tell: by now a server of another test may have it.
    const isAnswered = await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
    expect(isAnswered && isAnyLeftWith(`DATA_DIR=${folder}/`)).toBe(false);
  }

  /** The same on a PostgreSQL of its own. */
  async function expectNode(script: string): Promise<null> {
    if (!isPostgresInstalled) return skipped("no PostgreSQL here; the start of a node");
    await using postgres = await startPostgres();
    await expectServing(script.replace(POSTGRES, await postgres.createDatabase()));
    return null;
  }

  /** Carries the data directory of a server that has ended. */
  async function expectCarried(script: string): Promise<null> {
    if (!isPostgresInstalled) return skipped("no PostgreSQL here; the carrying of a data directory");
    const dataDir = join(folder, "carried");
    await expectServing("bun run start", { DATA_DIR: dataDir });
    await using postgres = await startPostgres();
    const filled = script
      .replace(POSTGRES, await postgres.createDatabase())
      .replace("/var/lib/assay", dataDir);
    expect(await run(filled)).toContain("All of it is in PostgreSQL");
    return null;
  }

  return { runCommands, expectServing };
}

function skipped(what: string): null {
  console.log(`readme: ${what} is skipped`);
  return null;
}

/** The chains of the demo are another package of their own. */
async function withoutChains(script: string): Promise<string> {
  if (!script.includes(CHAINS) || (await installLocalChains())) return script;
  skipped(`the local chains cannot be installed here; ${CHAINS}`);
  return script.replaceAll(CHAINS, "true");
}

const README_FILES: { readonly [name: string]: string } = {
  "people.csv": "Name,Work email\nAda,ada@posteo.de\nBen,info@proton.me\n",
  "ibans.txt": "DE89 3704 0044 0532 0130 00\nGB82 WEST 1234 5698 7654 32\n",
  "customers.csv": "phone\n(11) 98765-4321\n",
};

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
