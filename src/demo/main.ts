import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../app/log.ts";
import { systemPlatform } from "../app/platform.ts";
import { type RunningServer, startServer } from "../app/server.ts";
import { readConfig } from "../app/settings.ts";
import { createClient } from "../client/client.ts";
import { startFixtureServer } from "../made-up-dns/server.ts";
import { systemClock } from "../platform/clock.ts";
import { commandNamed } from "../platform/command-name.ts";
import { MADE_UP_ZONE } from "../test-keys/made-up-zone.ts";
import { demoAddresses } from "./addresses.ts";
import { verifyAsJob } from "./job.ts";
import { demoReport } from "./report.ts";

const PLAN = "starter";
const INTERRUPTED = 130;
const COMMAND = commandNamed("demo");
const USAGE = `${COMMAND}                  1,000 addresses by one call
${COMMAND} --job            the same by a job
${COMMAND} --inference      calls of an inference service, paid on local chains`;

/**
 * Starts a server of its own with a made-up DNS, signs up, verifies a thousand addresses, by one call or with `--job` by a
 * job, and cleans up. With `--inference` it pays for calls of an inference service, on local chains. Returns the exit code.
 */
async function main(): Promise<number> {
  const [option = "", ...others] = process.argv.slice(2);
  if (others.length > 0 || !["", "--job", "--inference"].includes(option)) {
    const isAsked = option === "--help" && others.length === 0;
    (isAsked ? process.stdout : process.stderr).write(`${USAGE}\n`);
    return isAsked ? 0 : 1;
  }
  // Never "once": of `bun run` and a terminal one Ctrl-C comes twice, and the second would end it before it has cleaned up.
  const interrupt = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupt.resolve(INTERRUPTED));
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "assay-demo-"));
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  stack.defer(removeData);
  process.once("exit", removeData);
  if (option === "--inference") return await Promise.race([showInference(dataDir, stack), interrupt.promise]);
  const dns = await startFixtureServer({ zone: MADE_UP_ZONE });
  stack.defer(() => dns.close());
  // An interrupt waits for the start: only a server that has started can be stopped, and its threads write until then.
  const server = await startPrivateServer(dataDir, dns.address);
  stack.defer(async () => void (await server.stop()));
  return await Promise.race([interrupt.promise, showThousand(server.url, option === "--job")]);
}

async function showInference(dataDir: string, stack: AsyncDisposableStack): Promise<number> {
  const { showPaidCalls } = await import("./paid-calls.ts");
  const write = (text: string) => void process.stdout.write(text);
  if (!(await showPaidCalls(dataDir, stack, write))) return 1;
  write("Now your own upstream: README, or src/docs/inference.md\n");
  return 0;
}

async function showThousand(url: string, isJob: boolean): Promise<number> {
  process.stdout.write(
    `A private server listens on ${url}; its DNS is made up, nothing leaves this machine.\n`,
  );
  process.stdout.write(await verifyThousand(url, isJob));
  const job = isJob ? " --server URL --job" : "";
  process.stdout.write(`Now your own file: ${commandNamed("verify")} FILE${job} --output checked.csv\n`);
  return 0;
}

async function verifyThousand(baseUrl: string, isJob: boolean): Promise<string> {
  const { api_key: apiKey } = await createClient({ baseUrl }).signUp({
    email: "demo@northwind-paper.com",
    plan: PLAN,
  });
  const client = createClient({ baseUrl, apiKey });
  const addresses = demoAddresses();
  process.stdout.write(`Signed up on the plan ${PLAN}; sending ${addresses.length} addresses.\n\n`);
  const startedMs = systemClock.monotonic();
  const batch = isJob
    ? await verifyAsJob(client, addresses, (text) => process.stdout.write(text))
    : await client.verifyEmails(addresses);
  const seconds = (systemClock.monotonic() - startedMs) / 1000;
  const account = await client.account();
  const plan = (await client.plans()).plans.find((candidate) => candidate.plan === PLAN);
  if (plan === undefined) throw new Error("the catalogue lacks a plan");
  return demoReport({ batch, seconds, account, plan });
}

function startPrivateServer(dataDir: string, dnsServer: string): Promise<RunningServer> {
  const settings = {
    PORT: "0",
    DATA_DIR: dataDir,
    DNS_SERVERS: dnsServer,
    LOG_LEVEL: "silent",
    SHUTDOWN_GRACE_SECONDS: "1",
  };
  const config = readConfig(settings, availableParallelism());
  return startServer(config, systemPlatform(createLog("silent")));
}

process.exit(await main());
