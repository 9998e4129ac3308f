import { type FixtureServer, startFixtureServer } from "../../src/tools/made-up-dns/server.ts";
import { type Caller, callerOf, FAULT_ZONE, quantile } from "./caller.ts";
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

/** What a caller met with who minds its own business. */
export type VictimReport = {
  readonly singlesP99Ms: number;
  readonly batchesP99Ms: number;
  /** How often each status was the answer. */
  readonly statuses: { readonly [status: string]: number };
};

const SINGLES = 60;
const BATCHES = 15;
const BATCH_ITEMS = 1000;

/** Makes single checks of known and new domains, and batches of 1,000, one after the other, for one account. */
export async function victimOf({ caller }: SharedServer, key: string): Promise<VictimReport> {
  const statuses: { [status: string]: number } = {};
  const timed = async (path: string, body?: object): Promise<number> => {
    const startedMs = performance.now();
    const reply = await caller.call(path, body === undefined ? { key } : { key, body });
    await reply.arrayBuffer();
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
    return performance.now() - startedMs;
  };
  const mark = crypto.randomUUID().slice(0, 8);
  const singles: number[] = [];
  const batches: number[] = [];
  for (let round = 0; round < SINGLES; round += 1) {
    const domain = round % 2 === 0 ? "good.com" : `s${round}${mark}.many.com`;
    singles.push(await timed(`/v1/email/verify?email=one%40${domain}`));
    if (round % (SINGLES / BATCHES) > 0) continue;
    const emails = Array.from(
      { length: BATCH_ITEMS },
      (_, at) => `a${at}@d${at % 5}${mark}${round}.many.com`,
    );
    batches.push(await timed("/v1/email/batch", { emails }));
  }
  return { singlesP99Ms: quantile(singles, 0.99), batchesP99Ms: quantile(batches, 0.99), statuses };
}

/** One attack, as a row of a table: the victim's times alone and beside it, and what it did to the server. */
export type AttackReport = {
  readonly attack: string;
  readonly alone: VictimReport;
  readonly beside: VictimReport;
  readonly strain: Strain;
};

/** Measures a victim alone and beside an attack, which begins before it and goes on until it is done. */
export async function reportOf(
  attack: string,
  shared: SharedServer,
  begin: () => Promise<() => Promise<unknown>>,
): Promise<AttackReport> {
  const key = await shared.caller.signUp("scale");
  await victimOf(shared, key);
  const alone = await victimOf(shared, key);
  let beside = alone;
  const strain = await strainOf(shared, async () => {
    const end = await begin();
    beside = await victimOf(shared, key);
    await end();
  });
  return { attack, alone, beside, strain };
}

/** Calls on until told to stop, so many at a time; what it was answered. */
export function callOn(
  count: number,
  call: (number: number) => Promise<Response>,
): () => Promise<{ readonly [status: string]: number }> {
  const statuses: { [status: string]: number } = {};
  let isDone = false;
  let number = 0;
  const running = Array.from({ length: count }, async () => {
    while (!isDone) {
      number += 1;
      const reply = await call(number);
      await reply.arrayBuffer();
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
      // A refusal comes at once: the next call waits a moment, as a caller would.
      if (reply.status !== 200) await Bun.sleep(20);
    }
  });
  return async () => {
    isDone = true;
    await Promise.all(running);
    return statuses;
  };
}
