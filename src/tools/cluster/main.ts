import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { listenError } from "../../app/listener.ts";
import { ConfigError, createReader } from "../../app/setting-reader.ts";
import { type DataDirLock, lockDataDir } from "../../store/sqlite/data-dir/data-dir-lock.ts";
import { StoreOpenError } from "../../store/storage-error.ts";
import { balancerConfig } from "./balancer.ts";
import { type Child, endedWithParent, startChild } from "./children.ts";
import { type HeldPort, holdPort } from "./held-port.ts";
import { startPostgres } from "./postgres.ts";
import { postgresPrograms } from "./postgres-programs.ts";

// A cluster on this machine, for development: PostgreSQL in a folder of its own, nodes, and HAProxy in front of them.

const USAGE =
  "bun run cluster [--nodes N]     N nodes, 1 to 16, 3 unless said; PORT and DATA_DIR as for one server";
const NODES = 3;
const NODES_MAX = 16;
const PORT = 3000;
const READY_EVERY_MS = 100;
const READY_WITHIN_MS = 60_000;

async function main(): Promise<void> {
  if (process.argv[2] === "--help") {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const nodes = readNodes(process.argv.slice(2));
  const { host, port: wanted } = readAddress();
  const balancerPort = await holdPort(wanted, host).catch((error: unknown) =>
    fail(listenError(error, host, wanted).message),
  );
  const { port } = balancerPort;
  const folder = resolve(process.env.DATA_DIR ?? "./data", "cluster");
  const programs = postgresPrograms();
  const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH ?? ""}:/usr/sbin` });
  if (programs === null) return fail("PostgreSQL is not installed: apt-get install postgresql.");
  if (haproxy === null) return fail("HAProxy is not installed: apt-get install haproxy.");
  mkdirSync(folder, { recursive: true });
  const lock = lockFolder(folder);
  const children: Child[] = [];
  let isStopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    // PostgreSQL last: until then nodes end what they have in work.
    const [postgres, ...others] = children;
    await Promise.all(others.map((child) => child.stop()));
    await postgres?.stop();
    lock.release();
    process.exit(exitCode);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop(0));
  try {
    const postgres = await startPostgres(programs, join(folder, "postgres"), await holdPort(0));
    children.push(postgres.child);
    const nodePorts = await Promise.all(Array.from({ length: nodes }, () => holdPort(0)));
    for (const [place, nodePort] of nodePorts.entries()) {
      const child = await startNode(place, nodePort, postgres.url, folder);
      children.push(child);
      process.stdout.write(`node ${place + 1}: http://127.0.0.1:${nodePort.port} process ${child.pid()}\n`);
    }
    const ports = nodePorts.map((held) => held.port);
    await Promise.all(ports.map(untilAlive));
    const config = join(folder, "haproxy.cfg");
    writeFileSync(config, balancerConfig({ host, port, ports }));
    const balancer = [...endedWithParent("SIGTERM"), haproxy, "-db", "-f", config];
    await balancerPort.release();
    children.push(startChild("balancer", balancer, process.env));
    await untilAlive(port);
    process.stdout.write(`PostgreSQL: ${postgres.url}\nAssay listens on http://127.0.0.1:${port}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    // What was started is not left behind.
    await stop(1);
  }
}

/** Takes the folder for this process alone, until it ends. */
function lockFolder(folder: string): DataDirLock {
  try {
    return lockDataDir(folder);
  } catch (error) {
    if (error instanceof StoreOpenError) return fail(error.message);
    throw error;
  }
}

async function startNode(
  place: number,
  { port, release }: HeldPort,
  databaseUrl: string,
  folder: string,
): Promise<Child> {
  const command = [...endedWithParent("SIGTERM"), process.execPath, "src/main.ts"];
  await release();
  return startChild(`node ${place + 1}`, command, {
    ...process.env,
    PORT: `${port}`,
    HOST: "127.0.0.1",
    TRUST_PROXY: "true",
    SHUTDOWN_DELAY_SECONDS: process.env.SHUTDOWN_DELAY_SECONDS ?? "2",
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(folder, `node-${place + 1}`),
  });
}

function readAddress(): { readonly host: string; readonly port: number } {
  const settings = createReader(process.env);
  const address = {
    host: settings.text("HOST", "127.0.0.1"),
    port: settings.integer("PORT", PORT, 0, 65_535),
  };
  try {
    settings.finish();
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
  return address;
}

function readNodes(words: readonly string[]): number {
  if (words.length === 0) return NODES;
  const [option, value = ""] = words;
  const nodes = /^\d{1,2}$/.test(value) ? Number(value) : 0;
  if (option === "--nodes" && words.length === 2 && nodes >= 1 && nodes <= NODES_MAX) return nodes;
  return fail(USAGE);
}

async function untilAlive(port: number): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (reply?.ok === true) return;
    if (performance.now() - startedMs > READY_WITHIN_MS) throw new Error(`Nothing answers at port ${port}.`);
    await Bun.sleep(READY_EVERY_MS);
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

await main();
