import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatServerAddress } from "../../src/dns/server-address.ts";
import { installedServer, startNsd } from "../../test/support/real-dns.ts";
import { startFile } from "./processes.ts";

/** A DNS server in a process of its own that answers for every name of a zone. */
export type DnsProcess = AsyncDisposable & { readonly address: string; readonly software: string };

/** Starts nsd where it is installed, else the built-in server. The zone is the whole DNS, from the root. */
export async function startDns(zone: string): Promise<DnsProcess> {
  const nsd = installedServer("nsd");
  if (nsd === null) return startBuiltIn(zone);
  const server = await startNsd(nsd, { ".": zone }, "gmail.com");
  return {
    address: formatServerAddress(server.address),
    software: "nsd",
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function startBuiltIn(zone: string): Promise<DnsProcess> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "assay-zone-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const zoneFile = join(folder, "root.zone");
  writeFileSync(zoneFile, zone);
  const server = stack.use(await startFile("bench/load/dns-process.ts", {}, { argument: zoneFile }));
  const opened = stack.move();
  return {
    address: server.line,
    software: "the built-in server",
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
