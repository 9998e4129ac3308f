import { afterAll } from "bun:test";
import { type FixtureServer, startFixtureServer } from "../../src/made-up-dns/server.ts";
import { type Caller, callerOf, FAULT_ZONE } from "./caller.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "./process.ts";

/** The real server in a folder of its own with a made-up DNS, and somebody with a key who calls it. */
export type FaultServer = AsyncDisposable & {
  readonly server: ServerProcess;
  readonly caller: Caller;
  /** On the plan scale. */
  readonly key: string;
  readonly dataDir: string;
  readonly dns: FixtureServer;
  /** What another start on the same folder takes. */
  readonly environment: { readonly [name: string]: string };
};

/** Starts a server for all tests of a file, and ends it after the last of them. */
export async function startFileFaultServer(
  ...options: Parameters<typeof startFaultServer>
): Promise<FaultServer> {
  const faults = await startFaultServer(...options);
  afterAll(() => faults[Symbol.asyncDispose]());
  return faults;
}

export async function startFaultServer(
  name: string,
  settings: { readonly [name: string]: string } = {},
  zone: string = FAULT_ZONE,
): Promise<FaultServer> {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(temporaryFolder(name));
  const dns = await startFixtureServer({ zone });
  stack.defer(() => dns.close());
  const environment = { DATA_DIR: dataDir, DNS_SERVERS: dns.address };
  const server = stack.use(await startProcess({ ...environment, ...settings }));
  const caller = callerOf(server.url);
  const key = await caller.signUp();
  const opened = stack.move();
  return {
    server,
    caller,
    key,
    dataDir,
    dns,
    environment,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
