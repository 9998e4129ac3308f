import { chmodSync } from "node:fs";
import { startBalancer } from "../../test/support/balancer.ts";
import { freePort } from "../../test/support/free-port.ts";
import { type PostgresServer, startPostgres } from "../../test/support/postgres.ts";
import { openBenchFolder } from "../folder.ts";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import { loadWarning, machineLine, readMachine } from "../machine.ts";
import { jobCreator } from "./created-job.ts";
import { createMeasures } from "./measures.ts";
import { printBalancer, printKinds } from "./printing.ts";
import { type BalancerFigures, type ClusterResult, KINDS } from "./result.ts";
import { throughBalancer } from "./through-balancer.ts";
import { createTurns, ORDERS, type Turns } from "./turns.ts";

// The embedded store, one node and several nodes on the same machine, in one run: `bun run bench:cluster [NODES] [--quick] [--json FILE]`.
// With `--balancer` only what goes through the balancer, in 5 minutes.

const NODES = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 3);
const QUICK = process.argv.includes("--quick");
const BALANCER_ALONE = process.argv.includes("--balancer");
/** Sets of servers: what the compiler makes of the same code differs by up to a tenth from one process to the next. */
const SETUPS = QUICK ? 1 : 3;
const ORDERS_MEASURED = QUICK ? 1 : ORDERS.length;
/** After one pass the compiler takes up to a sixth of the time of nodes for single checks, after some more a fiftieth. */
const WARMUPS = QUICK ? 0 : 8;
/** Rounds of a kind before those that count: what the kind before it has compiled anew takes a fifth of the first. */
const KIND_WARMUPS = QUICK ? 0 : 4;
const ROUND_MS = QUICK ? 100 : 1_500;
const BALANCER_ROUND_MS = QUICK ? 100 : 3_000;
const BATCH_SIZE = QUICK ? 1_000 : 10_000;
const JOB_ROWS = QUICK ? 5_000 : 300_000;
const JOB_ROWS_BESIDE = QUICK ? 1_000_000 : 4_000_000;
const createJob = jobCreator();
const measures = createMeasures({
  roundMs: ROUND_MS,
  batchSize: BATCH_SIZE,
  jobRows: JOB_ROWS,
  createJob,
});

const machine = await readMachine();
console.log(machineLine(machine));
console.log(loadWarning(machine) ?? "");
using own = openBenchFolder("bench-cluster");
process.env.BENCH_DIR = own.path;
// PostgreSQL may run as another user, whose own folder is in it.
chmodSync(own.path, 0o711);
await using dns = await startDns(addressCorpus(CORPUS).zone);
await using postgres = await startPostgres({ isDurable: true, folder: own.path });
await run(dns.address, postgres);

async function run(dns: string, postgres: PostgresServer): Promise<void> {
  const turns = createTurns(measures, postgres.port, { warmups: KIND_WARMUPS, orders: ORDERS_MEASURED });
  for (let setup = 1; setup < SETUPS && !BALANCER_ALONE; setup += 1) {
    await using cluster = await startCluster(dns, postgres);
    await addTurns(dns, postgres, cluster, turns);
  }
  await using cluster = await startCluster(dns, postgres);
  if (BALANCER_ALONE) {
    printBalancer(await measureBalancer(cluster));
    return;
  }
  await addTurns(dns, postgres, cluster, turns);
  const [embedded, one, several] = turns.figures();
  printKinds({ embedded, one, several }, { nodes: NODES, batchSize: BATCH_SIZE, jobRows: JOB_ROWS });
  const balancer = await measureBalancer(cluster);
  printBalancer(balancer);
  const at = new Date().toISOString();
  const result: ClusterResult = { at, machine, nodes: NODES, embedded, one, several, balancer };
  const json = process.argv.at(process.argv.indexOf("--json") + 1);
  if (process.argv.includes("--json") && json !== undefined) {
    await Bun.write(json, `${JSON.stringify(result, null, 2)}\n`);
  }
}

async function measureBalancer({ ports, key }: Cluster): Promise<BalancerFigures> {
  await using proxy = await startBalancer(ports);
  return await throughBalancer(
    { url: proxy.url, key },
    {
      turns: QUICK ? 1 : 6,
      turnRounds: QUICK ? 1 : 3,
      roundMs: BALANCER_ROUND_MS,
      jobRows: JOB_ROWS_BESIDE,
      createJob,
    },
  );
}

type Cluster = AsyncDisposable & {
  readonly nodes: readonly BenchServer[];
  readonly ports: readonly number[];
  readonly key: string;
};

/** Starts nodes on a database of their own, and warms them up. */
async function startCluster(dns: string, postgres: PostgresServer): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const ports = await Promise.all(Array.from({ length: NODES }, () => freePort()));
  const url = await postgres.createDatabase();
  // As the page on clusters says: the cores are shared out where several nodes have one machine.
  const threads = `${Math.max(1, Math.floor(machine.cores / NODES))}`;
  const nodes: BenchServer[] = [];
  let key: string | undefined;
  for (const port of ports) {
    const environment = { DATABASE_URL: url, PORT: `${port}`, WORKER_THREADS: threads };
    const known = key === undefined ? {} : { key };
    const node = stack.use(await startServerProcess({ dns, environment, ...known }));
    nodes.push(node);
    key ??= node.key;
    await warmUp(node);
  }
  if (key === undefined) throw new Error("A cluster has at least one node");
  const opened = stack.move();
  return { nodes, ports, key, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Lets a server do all that is measured, one kind after the other and again: code that is not compiled yet is no cost of a
 * cluster, what another kind brings has some of it compiled anew, and one that has worked on jobs takes a tenth more of
 * its main thread for a batch, with the embedded store, too.
 */
async function warmUp(server: BenchServer): Promise<void> {
  for (let pass = 0; pass < WARMUPS; pass += 1) {
    for (const kind of KINDS) await measures[kind]([server]);
  }
}

/**
 * The embedded store, a node that is alone with its database, and the nodes of a cluster: of these none is measured by
 * itself, as the others would take their part of its jobs.
 */
async function addTurns(
  dns: string,
  postgres: PostgresServer,
  { nodes }: Cluster,
  turns: Turns,
): Promise<void> {
  await using embedded = await startServerProcess({ dns });
  await warmUp(embedded);
  const environment = { DATABASE_URL: await postgres.createDatabase() };
  await using one = await startServerProcess({ dns, environment });
  await warmUp(one);
  await turns.add([[embedded], [one], nodes]);
}
