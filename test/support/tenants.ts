import { join } from "node:path";
import { ALLOCATOR } from "../../bench/load/processes.ts";
import { type Caller, callerOf, FAULT_ZONE } from "./caller.ts";
import { startLatencyProbe } from "./latency.ts";
import { startWatchedProcess, temporaryFolder, type WatchedServerProcess } from "./process.ts";

/** The real server under a watch of its event loop, with a made-up DNS, for accounts that share it. */
export type SharedServer = AsyncDisposable & {
  readonly server: WatchedServerProcess;
  readonly caller: Caller;
  /** One of its own for what the test writes. */
  readonly folder: string;
};

export async function startSharedServer(
  name: string,
  settings: { readonly [name: string]: string } = {},
  zone: string = FAULT_ZONE,
): Promise<SharedServer> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryFolder(name));
  const dns = stack.use(await startDnsProcess(zone));
  const environment = {
    ...ALLOCATOR,
    DATA_DIR: path,
    DNS_SERVERS: dns.address,
    SIGNUPS_PER_MINUTE: "100000",
    ...settings,
  };
  const server = stack.use(await startWatchedProcess(environment, path));
  const held = stack.move();
  return {
    server,
    folder: path,
    caller: callerOf(server.url),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function startDnsProcess(zone: string): Promise<AsyncDisposable & { readonly address: string }> {
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dir, "dns-process.ts")],
    env: { TEST_ZONE: zone },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return {
    address: new TextDecoder().decode(value),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** What an attack did to the server while it ran. */
export type Strain = {
  /** The longest that /healthz took to answer another process. */
  readonly healthzMs: number;
  /** The longest turn of the main thread's event loop, in its CPU time. */
  readonly turnMs: number;
  readonly rssBytes: number;
};

type WaitMs = Pick<Strain, "turnMs" | "healthzMs">;

/** Returns the larger share that two times have of their bounds: of several tries the best is where it is least. */
export function worseShare(found: WaitMs, most: WaitMs): number {
  return Math.max(found.turnMs / most.turnMs, found.healthzMs / most.healthzMs);
}

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

/** A caller in a process of its own, so that neither what an attack costs its caller is counted nor a start. */
export type Victim = AsyncDisposable & { readonly measure: () => Promise<VictimReport> };

/** Starts `victim.ts`. */
export function startVictim({ server }: SharedServer, key: string): Victim {
  let onReport: ((report: VictimReport) => void) | undefined;
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dir, "victim.ts"), server.url, key],
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (report: VictimReport) => onReport?.(report),
  });
  const ended = child.exited.then((code) => {
    throw new Error(`The victim ended with ${code}`);
  });
  return {
    measure() {
      const { promise, resolve } = Promise.withResolvers<VictimReport>();
      onReport = resolve;
      child.send("measure");
      return Promise.race([promise, ended]);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended.catch(() => undefined);
    },
  };
}

/** What a victim met with, and what the server went through meanwhile. */
export type Measured = VictimReport & Strain;

/** One attack, as a row of a table: the victim alone and beside it. */
export type AttackReport = {
  readonly attack: string;
  readonly alone: Measured;
  readonly beside: Measured;
};

/** Begins an attack on the server and returns how to end it. */
export type BeginAttack = () => Promise<() => Promise<unknown>>;

/** Measures a victim, and what the server goes through meanwhile. */
export async function measureVictim(shared: SharedServer, victim: Victim): Promise<Measured> {
  let report: VictimReport | undefined;
  const strain = await strainOf(shared, async () => {
    report = await victim.measure();
  });
  if (report === undefined) throw new Error("The victim measured nothing");
  return { ...report, ...strain };
}

/** A refusal comes at once: who calls again at once floods the machine, which does server, attack and victim alike. */
const REFUSED_WAIT_MS = 250;

/** Calls on until stopped, with a bounded number at a time. Returns the replies. */
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
      if (reply.status !== 200) await Bun.sleep(REFUSED_WAIT_MS);
    }
  });
  return async () => {
    isDone = true;
    await Promise.all(running);
    return statuses;
  };
}
