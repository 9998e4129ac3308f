import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FixtureServer, startFixtureServer } from "../../src/made-up-dns/server.ts";
import { buildExecutable } from "../../src/tools/build/bundle.ts";
import { callerOf } from "../support/caller.ts";
import { emailBatchOf, jsonOf } from "../support/json.ts";
import { runCommand, startCommand, startProcess, temporaryFolder } from "../support/process.ts";
import { TEST_ZONE } from "../support/server.ts";

/** The executable, run where there is nothing else: no sources, no packages, no Bun. */

const ROOT = join(import.meta.dir, "../..");

/** Mounts an empty folder over the project, for the command that follows and what it starts. */
const HIDDEN = ["unshare", "-rm", "/bin/sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', ROOT];

const PUBLIC_PATHS = [
  "/v1/plans",
  "/v1/directory?limit=5",
  "/openapi.json",
  "/docs",
  "/docs/first-batch",
  "/docs/search.json",
  "/console",
  "/console/page.js",
  "/console/list-reader.js",
  "/console/page.css",
  "/docs/swagger-ui.js",
  "/docs/swagger-ui.css",
  "/v1/no-such-path",
];

let folder: ReturnType<typeof temporaryFolder>;
let dns: FixtureServer;
let command: readonly string[];
let empty: string;

beforeAll(async () => {
  folder = temporaryFolder("executable");
  dns = await startFixtureServer({ zone: TEST_ZONE });
  const outfile = join(folder.path, "assay");
  await buildExecutable({ root: ROOT, outfile });
  empty = join(folder.path, "empty");
  mkdirSync(empty);
  const hides = Bun.spawnSync([...HIDDEN, "/bin/true"], { stderr: "ignore" }).success;
  if (!hides) process.stdout.write("The project stays in sight: mounting over it is not allowed here.\n");
  command = hides ? [...HIDDEN, outfile] : [outfile];
}, 60_000);

afterAll(async () => {
  await dns.close();
  folder[Symbol.dispose]();
});

const start = (dataDir: string) =>
  startCommand(command, empty, {
    DATA_DIR: join(folder.path, dataDir),
    DNS_SERVERS: dns.address,
    WORKER_THREADS: "2",
  });

const run = (args: readonly string[], environment: { readonly [name: string]: string } = {}) =>
  runCommand([...command, ...args], empty, { PATH: "/usr/bin:/bin", ...environment });

test("judges batches of all three kinds and jobs on its worker threads, and stops at SIGTERM", async () => {
  await using server = await start("batches");
  const { call, signUp } = callerOf(server.url);
  const key = await signUp();
  const post = (path: string, body: object) => call(path, { key, body });

  const emails = Array.from({ length: 5000 }, (_, at) => `ann.${at}@d${at % 40}.many.com`);
  const checked = await emailBatchOf(await post("/v1/email/batch", { emails: [...emails, "ann@null.com"] }));
  expect(checked.summary).toMatchObject({ deliverable: 5000, undeliverable: 1, units_charged: 5001 });
  expect(checked.results[4999]).toMatchObject({ email: "ann.4999@d39.many.com", mx_hosts: ["mx.good.com"] });

  const items = Array.from({ length: 2000 }, (_, at) => ({ value: `${at}-GB82 WEST 1234 5698 7654 32` }));
  const documents = await post("/v1/identity/batch", {
    items: [...items, { value: "GB82WEST12345698765432" }],
  });
  expect(await jsonOf<object>(documents)).toMatchObject({
    count: 2001,
    summary: { valid: 1, invalid: 2000 },
  });

  const phones = Array.from({ length: 2000 }, (_, at) => `+1 212 555 ${String(at).padStart(4, "0")}`);
  const numbers = await jsonOf<object>(await post("/v1/phone/batch", { phones }));
  expect(numbers).toMatchObject({ count: 2000, summary: { valid: 2000, invalid: 0 } });

  const text = { "Content-Type": "text/plain" };
  const created = await call("/v1/jobs", { key, body: emails.join("\n"), headers: text });
  const { job_id: jobId } = await jsonOf<{ job_id: string }>(created);
  const events = await (await call(`/v1/jobs/${jobId}/events`, { key })).text();
  expect(events).toContain('"status":"completed"');

  const metrics = await (await call("/metrics")).text();
  expect(Number(/assay_pool_tasks_total\{outcome="finished"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(5);
  expect(metrics).toContain('assay_pool_tasks_total{outcome="failed"} 0');
  expect(await server.end("SIGTERM")).toBe(0);
  expect(readdirSync(empty)).toEqual([]);
}, 60_000);

test("answers the public routes as the sources do", async () => {
  using data = temporaryFolder("sources");
  await using sources = await startProcess({ DATA_DIR: data.path, DNS_SERVERS: dns.address });
  await using server = await start("answers");
  const facts = async (url: string, path: string) => {
    const reply = await fetch(url + path);
    const body = (await reply.text()).replaceAll(url, "").replace(/"synced_at":"[^"]*"/, "");
    return { path, status: reply.status, type: reply.headers.get("Content-Type"), body: Bun.hash(body) };
  };
  for (const path of PUBLIC_PATHS) {
    expect(await facts(server.url, path)).toEqual(await facts(sources.url, path));
  }
}, 120_000);

test("checks a file, backs a database up, acts on accounts and shows the demonstration, as the scripts of those names do", async () => {
  const list = join(folder.path, "list.txt");
  writeFileSync(list, "ann@good.com\nann@null.com\n");
  const verified = await run(["verify", list, "--format", "ndjson"], { DNS_SERVERS: dns.address });
  expect(verified.exitCode).toBe(0);
  const statuses = verified.said
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).status);
  expect(statuses).toEqual(["deliverable", "undeliverable"]);

  await using server = await start("saved");
  await callerOf(server.url).signUp();
  const copy = join(folder.path, "copy.db");
  const saved = await run(["backup", copy], { DATA_DIR: join(folder.path, "saved") });
  expect(saved).toMatchObject({ exitCode: 0, complained: "" });
  expect(await Bun.file(copy).slice(0, 15).text()).toBe("SQLite format 3");

  const admin = await run(["admin", "list"], { DATA_DIR: join(folder.path, "saved") });
  expect(admin).toMatchObject({ exitCode: 0, complained: "" });
  expect(JSON.parse(admin.said)).toMatchObject([{ plan: "scale" }]);

  const usage = await run(["admin", "--help"]);
  expect(usage.said).toStartWith("assay admin list [AFTER] ");
  const help = await run(["verify", "--help"]);
  expect(help.said).toContain("\n  assay verify people.csv --output checked.csv\n");
  expect([usage.said, help.said].join("")).not.toContain("bun run");

  const demo = await run(["demo"]);
  expect(demo).toMatchObject({ exitCode: 0, complained: "" });
  expect(demo.said).toContain("sending 1000 addresses");
  expect(demo.said).toContain("Now your own file: assay verify FILE");
}, 120_000);

test("a command that it does not have is refused with those that it has", async () => {
  const { exitCode, complained } = await run(["sevre"]);
  expect(exitCode).toBe(1);
  expect(complained).toContain("There is no command sevre.\nassay ");
});
