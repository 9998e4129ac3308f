import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBalancer } from "../../test/support/balancer.ts";
import { freePort, type PostgresServer, startPostgres } from "../../test/support/postgres.ts";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { type Aim, CORPUS } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import { loadWarning, machineLine, readMachine } from "../machine.ts";
import { shown, tableText } from "../print.ts";
import { median } from "../result.ts";
import { createCpuMeter } from "./cpu-meter.ts";
import { type ClusterFigure, type ClusterFigures, type ClusterResult, KINDS, type Kind } from "./result.ts";

// The embedded store, one node and several nodes on the same machine, in one run: `bun run bench:cluster [NODES] [--quick] [--json FILE]`.

const NODES = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 3);
const QUICK = process.argv.includes("--quick");
const ROUNDS = QUICK ? 1 : 3;
const ROUND_MS = QUICK ? 500 : 3_000;
const CONNECTIONS = 192;
const BATCH_SIZE = 10_000;
const BATCHES_AT_A_TIME = 3;
const JOB_ROWS = QUICK ? 20_000 : 300_000;
const POLL_MS = 20;
/** So that no two jobs have a row in common. */
let runs = 0;

const NAMES: { readonly [kind in Kind]: string } = {
  single: "single checks",
  batch: `rows of batches of ${shown(BATCH_SIZE)}`,
  job: `rows of a job of ${shown(JOB_ROWS)}`,
};

const machine = await readMachine();
console.log(machineLine(machine));
console.log(loadWarning(machine) ?? "");
const folder = mkdtempSync(join(tmpdir(), "assay-bench-cluster-"));
process.env.BENCH_DIR = folder;
try {
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  await using postgres = await startPostgres({ isDurable: true });
  await run(dns.address, postgres);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(dns: string, postgres: PostgresServer): Promise<void> {
  const ports = await Promise.all(Array.from({ length: NODES }, freePort));
  const url = await postgres.createDatabase();
  const start = (place: number, account: { readonly key?: string } = {}) => {
    // As the page on clusters says: the cores are shared out where several nodes have one machine.
    const threads =
      place === 0 ? {} : { WORKER_THREADS: `${Math.max(1, Math.floor(machine.cores / NODES))}` };
    const environment = { DATABASE_URL: url, PORT: `${ports[place]}`, ...threads };
    return startServerProcess({ dns, ...account, environment });
  };
  await using stack = new AsyncDisposableStack();
  const node = stack.use(await start(0));
  const [embedded, one] = await (async () => {
    await using alone = await startServerProcess({ dns });
    return await compare([[alone], [node]], postgres);
  })();
  const others: BenchServer[] = [];
  for (let place = 1; place < NODES; place += 1)
    others.push(stack.use(await start(place, { key: node.key })));
  const [several] = await compare([[node, ...others]], postgres);
  if (embedded === undefined || one === undefined || several === undefined) return;
  print({ embedded, one, several });
  const result: ClusterResult = { at: new Date().toISOString(), machine, nodes: NODES, one, several };
  const json = process.argv.at(process.argv.indexOf("--json") + 1);
  if (process.argv.includes("--json") && json !== undefined) {
    await Bun.write(json, `${JSON.stringify(result, null, 2)}\n`);
  }
  await using balancer = await startBalancer(ports);
  console.log(await besideJob({ url: balancer.url, key: node.key }, several.single.perSecond / 2));
}

type Subjects = {
  readonly embedded: ClusterFigures;
  readonly one: ClusterFigures;
  readonly several: ClusterFigures;
};

function print({ embedded, one, several }: Subjects): void {
  const subjects: readonly (readonly [string, ClusterFigures])[] = [
    ["embedded store", embedded],
    ["one node", one],
    [`${NODES} nodes, in sum`, several],
  ];
  const rows = KINDS.flatMap((kind) =>
    subjects.map(([name, figures]) => {
      const { perSecond, nodesCpu, postgresCpu } = figures[kind];
      const share = shown(perSecond / embedded[kind].perSecond);
      return [
        NAMES[kind],
        name,
        shown(perSecond),
        share,
        shown(nodesCpu),
        figures === embedded ? "" : shown(postgresCpu),
      ];
    }),
  );
  const head = ["what", "by", "a second", "of embedded", "CPU µs each: servers", "PostgreSQL"];
  console.log(tableText(head, rows));
}

/** Measures groups of servers by turns, so that a busy moment of the machine hits them all alike. */
async function compare(
  groups: readonly (readonly BenchServer[])[],
  postgres: PostgresServer,
): Promise<readonly ClusterFigures[]> {
  const measures = { single: singles, batch: batches, job: jobRows };
  const found = groups.map(() => new Map<Kind, ClusterFigure>());
  for (const kind of KINDS) {
    const rounds = groups.map((): ClusterFigure[] => []);
    for (const servers of groups) await measures[kind](servers);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [which, servers] of groups.entries()) {
        const pids = servers.map(({ pid }) => pid);
        const meter = createCpuMeter(pids, postgres.port);
        const startedMs = performance.now();
        const perSecond = await measures[kind](servers);
        const cpu = meter.perItem((perSecond * (performance.now() - startedMs)) / 1_000);
        rounds[which]?.push({ perSecond, nodesCpu: cpu.servers, postgresCpu: cpu.postgres });
      }
    }
    for (const [which, all] of rounds.entries()) {
      const middle = (of: (figure: ClusterFigure) => number) => median(all.map(of));
      found[which]?.set(kind, {
        perSecond: middle(({ perSecond }) => perSecond),
        nodesCpu: middle(({ nodesCpu }) => nodesCpu),
        postgresCpu: middle(({ postgresCpu }) => postgresCpu),
      });
    }
  }
  return found.map((figures) => Object.fromEntries(figures) as ClusterFigures);
}

/** Calls without a pause, over as many connections in sum whatever the number of servers. */
async function singles(servers: readonly Aim[]): Promise<number> {
  const rounds = await Promise.all(
    servers.map((aim) =>
      drive({
        kind: "singles",
        aims: [aim],
        traffic: { kind: "warm" },
        connections: Math.floor(CONNECTIONS / servers.length),
        ratePerSecond: null,
        spin: false,
        rounds: 1,
        roundMs: ROUND_MS,
      }),
    ),
  );
  return sumOf(rounds.map(({ aims }) => aims[0]?.[0]?.perSecond));
}

async function batches(servers: readonly Aim[]): Promise<number> {
  const rounds = await Promise.all(
    servers.map((aim) =>
      drive({
        kind: "batches",
        aims: [aim],
        size: BATCH_SIZE,
        parallel: Math.max(1, Math.floor(BATCHES_AT_A_TIME / servers.length)),
        rounds: 1,
        roundMs: ROUND_MS,
        cold: null,
      }),
    ),
  );
  return sumOf(rounds.map(({ aims }) => aims[0]?.[0]?.addressesPerSecond));
}

/** From the 202 to the end. */
async function jobRows(servers: readonly Aim[]): Promise<number> {
  const [aim] = servers;
  if (aim === undefined) return Number.NaN;
  const jobId = await createJob(aim, JOB_ROWS);
  const startedMs = performance.now();
  await jobEnded(aim, jobId);
  const perSecond = (JOB_ROWS * 1_000) / (performance.now() - startedMs);
  await call(aim, `/v1/jobs/${jobId}`, { method: "DELETE" });
  return perSecond;
}

async function createJob(aim: Aim, rows: number): Promise<string> {
  runs += 1;
  const { cases } = addressCorpus(CORPUS);
  const lines = Array.from({ length: rows }, (_, row) => `j${runs}x${row}${cases[row % cases.length]?.text}`);
  const reply = await call(aim, "/v1/jobs", {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: lines.join("\n"),
  });
  const { job_id: jobId } = (await reply.json()) as { readonly job_id: string };
  return jobId;
}

async function jobEnded(aim: Aim, jobId: string): Promise<void> {
  for (;;) {
    const job = (await (await call(aim, `/v1/jobs/${jobId}`)).json()) as { readonly status: string };
    if (job.status === "completed") return;
    if (job.status !== "queued" && job.status !== "running") throw new Error(`The job is ${job.status}`);
    await Bun.sleep(POLL_MS);
  }
}

/** Latency of single checks through the balancer while a job runs. */
async function besideJob(aim: Aim, ratePerSecond: number): Promise<string> {
  const jobId = await createJob(aim, JOB_ROWS * 10);
  const { aims } = await drive({
    kind: "singles",
    aims: [aim],
    traffic: { kind: "warm" },
    connections: CONNECTIONS,
    ratePerSecond,
    spin: false,
    rounds: ROUNDS,
    roundMs: ROUND_MS,
  });
  const job = (await (await call(aim, `/v1/jobs/${jobId}`)).json()) as {
    readonly status: string;
    readonly counts: { readonly processed: number };
  };
  await call(aim, `/v1/jobs/${jobId}/cancel`, { method: "POST" });
  const rounds = aims[0] ?? [];
  const p99 = rounds.map(({ latency }) => shown(latency.p99)).join(", ");
  return `${shown(ratePerSecond)} single checks a second through the balancer beside a job (${job.status}, ${shown(job.counts.processed)} rows): p99 ${p99} ms; ${sumOf(rounds.map(({ wrong, lost }) => wrong + lost))} wrong or lost`;
}

async function call(aim: Aim, path: string, options: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${aim.key}`, ...options.headers };
  const reply = await fetch(`${aim.url}${path}`, { ...options, headers });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply;
}

function sumOf(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
}
