import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { startFixtureServer } from "../../src/dns/fixture-server.ts";
import { createStubResolver } from "../../src/dns/resolver.ts";
import { startFile } from "./processes.ts";

/** A DNS server in a process of its own that answers for every name of a zone. */
export type DnsProcess = AsyncDisposable & { readonly address: string; readonly software: string };

const NSD_PATHS = ["/usr/sbin/nsd", "/usr/local/sbin/nsd", "/opt/homebrew/sbin/nsd"];

/** Starts nsd where it is installed, else the built-in server. The zone is the whole DNS, from the root. */
export async function startDns(zone: string): Promise<DnsProcess> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "assay-zone-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const zoneFile = join(folder, "root.zone");
  writeFileSync(zoneFile, zone);
  const nsd = NSD_PATHS.find((path) => existsSync(path));
  const server = nsd === undefined ? await startBuiltIn(zoneFile, stack) : await startNsd(nsd, folder, stack);
  const opened = stack.move();
  return { ...server, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function startBuiltIn(zoneFile: string, stack: AsyncDisposableStack) {
  const server = stack.use(await startFile("bench/load/dns-process.ts", {}, zoneFile));
  return { address: server.line, software: "the built-in server" };
}

async function startNsd(program: string, folder: string, stack: AsyncDisposableStack) {
  const port = await freePort();
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
zone:
  name: "."
  zonefile: "root.zone"
`;
  writeFileSync(join(folder, "nsd.conf"), config);
  const child = Bun.spawn([program, "-d", "-c", join(folder, "nsd.conf")], {
    stdout: "ignore",
    stderr: "ignore",
  });
  stack.defer(async () => {
    child.kill();
    await child.exited;
  });
  await waitForAnswer(port);
  return { address: `127.0.0.1:${port}`, software: "nsd" };
}

async function waitForAnswer(port: number): Promise<void> {
  const resolver = createStubResolver({
    servers: [{ ip: "127.0.0.1", port }],
    clock: systemClock,
    attemptTimeoutsMs: Array<number>(100).fill(50),
    lookupTimeoutMs: 6000,
  });
  const { outcome } = await resolver.lookUp("gmail.com", "MX");
  resolver.close();
  if (outcome !== "answer") throw new Error(`nsd does not serve its zone: ${outcome}`);
}

async function freePort(): Promise<number> {
  const server = await startFixtureServer({ zone: "" });
  await server.close();
  return server.port;
}
