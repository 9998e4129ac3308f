import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStubResolver } from "../../src/dns/resolver.ts";
import type { ServerAddress } from "../../src/dns/server-address.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { endedWithParent } from "../../src/tools/cluster/children.ts";
import { freePort } from "./free-port.ts";

export type RealServer = AsyncDisposable & { readonly address: ServerAddress };

const START_DEADLINE_MS = 20_000;
const ATTEMPT_MS = 50;

const PATHS = {
  nsd: ["/usr/sbin/nsd", "/usr/local/sbin/nsd", "/opt/homebrew/sbin/nsd"],
  unbound: ["/usr/sbin/unbound", "/usr/local/sbin/unbound", "/opt/homebrew/sbin/unbound"],
} as const;

/** Where `nsd` or `unbound` is installed, or null. */
export function installedServer(name: "nsd" | "unbound"): string | null {
  return PATHS[name].find((path) => existsSync(path)) ?? Bun.which(name);
}

/** As `installedServer`, with a line that says what is skipped without it. */
export function findServer(name: "nsd" | "unbound"): string | null {
  const found = installedServer(name);
  if (found === null) console.log(`skipped: tests against ${name}, which is not installed here`);
  return found;
}

/**
 * Serves master-file zones with nsd on a free loopback port; a zone of null is one whose file is missing. `known` is
 * a name in a zone that is there: it is asked for until the server answers.
 */
export async function startNsd(
  program: string,
  zones: Record<string, string | null>,
  known = Object.keys(zones)[0] ?? ".",
): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), "assay-nsd-"));
  const port = await freePort(isFree);
  const entries = Object.entries(zones).map(([name, text], at) => {
    if (text !== null) writeFileSync(join(folder, `${at}.zone`), text);
    return `zone:\n  name: "${name}"\n  zonefile: "${at}.zone"\n`;
  });
  const config = `server:
  ip-address: 127.0.0.1@${port}
  server-count: 1
  username: ""
  chroot: ""
  database: ""
  zonesdir: "${folder}"
  xfrdir: "${folder}"
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  logfile: "${folder}/nsd.log"
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
${entries.join("")}`;
  writeFileSync(join(folder, "nsd.conf"), config);
  return run(
    [...endedWithParent("SIGTERM"), program, "-d", "-c", join(folder, "nsd.conf")],
    folder,
    port,
    known,
  );
}

/** A recursive unbound: `stubs` says where zones are served, `forwards` where other questions are sent. */
export async function startUnbound(
  program: string,
  stubs: Record<string, ServerAddress>,
  forwards: Record<string, ServerAddress>,
): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), "assay-unbound-"));
  const port = await freePort(isFree);
  const zone = (kind: string, [name, { ip, port: at }]: [string, ServerAddress]) =>
    `${kind}-zone:\n  name: "${name}"\n  ${kind}-addr: ${ip}@${at}\n`;
  const config = `server:
  interface: 127.0.0.1
  port: ${port}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  module-config: "iterator"
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: "${folder}/unbound.pid"
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  local-zone: "test." nodefault
${Object.entries(stubs)
  .map((entry) => zone("stub", entry))
  .join("")}${Object.entries(forwards)
  .map((entry) => zone("forward", entry))
  .join("")}`;
  writeFileSync(join(folder, "unbound.conf"), config);
  return run([program, "-d", "-c", join(folder, "unbound.conf")], folder, port, Object.keys(stubs)[0] ?? ".");
}

async function run(command: string[], folder: string, port: number, known: string): Promise<RealServer> {
  const child = Bun.spawn(command, { stdout: "ignore", stderr: "ignore" });
  const address = { ip: "127.0.0.1", port };
  const stop = async () => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const ended = child.exited.then((code) => `ended with ${code}`);
  const outcome = await Promise.race([ended, answers(address, known)]);
  if (outcome !== "answers") {
    const log = await Bun.file(join(folder, "nsd.log"))
      .text()
      .catch(() => "");
    await stop();
    throw new Error(`${command[0]} at port ${port} ${outcome} ${log.slice(-500)}`);
  }
  return { address, [Symbol.asyncDispose]: stop };
}

/** Waits for the server to come up: a look-up tries a few times on its own. */
async function answers(address: ServerAddress, known: string): Promise<string> {
  const resolver = createStubResolver({
    servers: [address],
    clock: systemClock,
    attemptTimeoutsMs: Array<number>(START_DEADLINE_MS / ATTEMPT_MS).fill(ATTEMPT_MS),
    lookupTimeoutMs: START_DEADLINE_MS,
  });
  const { outcome } = await resolver.lookUp(known, "A");
  resolver.close();
  return outcome === "nodata" || outcome === "answer" ? "answers" : `does not answer: ${outcome}`;
}

/** Whether a server may have the port by UDP and TCP. */
async function isFree(port: number): Promise<boolean> {
  try {
    await (await startFixtureServer({ zone: "", port })).close();
    return true;
  } catch {
    return false;
  }
}
