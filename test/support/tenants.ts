import { type FixtureServer, startFixtureServer } from "../../src/tools/made-up-dns/server.ts";
import { type Caller, callerOf, FAULT_ZONE } from "./caller.ts";
import {
  startLatencyProbe,
  startWatchedProcess,
  temporaryFolder,
  type WatchedServerProcess,
} from "./process.ts";

/** The real server under a watch of its event loop, with a made-up DNS, for accounts that share it. */
export type SharedServer = AsyncDisposable & {
  readonly server: WatchedServerProcess;
  readonly caller: Caller;
  readonly dns: FixtureServer;
};

export async function startSharedServer(
  name: string,
  settings: { readonly [name: string]: string } = {},
  zone: string = FAULT_ZONE,
): Promise<SharedServer> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryFolder(name));
  const dns = await startFixtureServer({ zone });
  stack.defer(() => dns.close());
  const environment = { DATA_DIR: path, DNS_SERVERS: dns.address, SIGNUPS_PER_MINUTE: "100000", ...settings };
  const server = stack.use(await startWatchedProcess(environment, path));
  const held = stack.move();
  return { server, dns, caller: callerOf(server.url), [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** What an attack did to the server while it ran. */
export type Strain = {
  /** The longest that /healthz took to answer another process. */
  readonly healthzMs: number;
  /** The longest turn of the main thread's event loop, in its CPU time. */
  readonly turnMs: number;
  readonly rssBytes: number;
};

/** Runs some work and watches the server meanwhile. */
export async function strainOf({ server }: SharedServer, work: () => Promise<unknown>): Promise<Strain> {
  const probe = await startLatencyProbe(`${server.url}/healthz`);
  await server.longestTurnMs();
  await server.mostRssBytes();
  await work();
  const { slowestMs } = await probe.stop();
  return {
    healthzMs: slowestMs,
    turnMs: await server.longestTurnMs(),
    rssBytes: await server.mostRssBytes(),
  };
}
