import { createClient } from "../../src/client/client.ts";
import { PART_BYTES_MAX } from "../../src/contract/words.ts";
import { addressCorpus } from "../input.ts";
import { type Aim, CORPUS, type SinglesRound } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { median } from "../result.ts";
import type { BalancerFigures } from "./result.ts";

export type MeasureOptions = {
  readonly rounds: number;
  readonly roundMs: number;
  readonly batchSize: number;
  readonly jobRows: number;
};

const CONNECTIONS = 192;
const BATCHES_AT_A_TIME = 3;
/** The client's stream of events has the end up to half a second late. */
const POLL_MS = 20;
/** How many times larger the job is beside which calls are measured: it must outlast them. */
const JOB_BESIDE_TIMES = 10;

/** What is measured of a group of servers: items a second of each kind, and single checks through a balancer. */
export function createMeasures({ rounds, roundMs, batchSize, jobRows }: MeasureOptions) {
  const clientOf = ({ url, key }: Aim) => createClient({ baseUrl: url, apiKey: key });
  /** So that no two jobs have a row in common. */
  let jobs = 0;

  /** Calls without a pause, over as many connections in sum whatever the number of servers. */
  async function single(servers: readonly Aim[]): Promise<number> {
    const found = await Promise.all(
      servers.map((aim) =>
        drive({
          kind: "singles",
          aims: [aim],
          traffic: { kind: "warm" },
          connections: Math.floor(CONNECTIONS / servers.length),
          ratePerSecond: null,
          spin: false,
          rounds: 1,
          roundMs,
        }),
      ),
    );
    return sumOf(found.map(({ aims }) => aims[0]?.[0]?.perSecond));
  }

  async function batch(servers: readonly Aim[]): Promise<number> {
    const found = await Promise.all(
      servers.map((aim) =>
        drive({
          kind: "batches",
          aims: [aim],
          size: batchSize,
          parallel: Math.max(1, Math.floor(BATCHES_AT_A_TIME / servers.length)),
          rounds: 1,
          roundMs,
          cold: null,
        }),
      ),
    );
    return sumOf(found.map(({ aims }) => aims[0]?.[0]?.addressesPerSecond));
  }

  /** From the 202 to the end. */
  async function job(servers: readonly Aim[]): Promise<number> {
    const [aim] = servers;
    if (aim === undefined) return Number.NaN;
    const jobId = await createJob(aim, jobRows);
    const startedMs = performance.now();
    await jobEnded(aim, jobId);
    const perSecond = (jobRows * 1_000) / (performance.now() - startedMs);
    await clientOf(aim).deleteJob(jobId);
    return perSecond;
  }

  async function createJob(aim: Aim, rows: number): Promise<string> {
    jobs += 1;
    const { cases } = addressCorpus(CORPUS);
    const lines = Array.from(
      { length: rows },
      (_, row) => `j${jobs}x${row}${cases[row % cases.length]?.text}`,
    );
    const created = await clientOf(aim).createJob(
      { text: lines.join("\n") },
      {},
      { partBytes: PART_BYTES_MAX },
    );
    return created.job_id;
  }

  async function jobEnded(aim: Aim, jobId: string): Promise<void> {
    for (;;) {
      const { status } = await clientOf(aim).job(jobId);
      if (status === "completed") return;
      if (status !== "queued" && status !== "running") throw new Error(`The job is ${status}`);
      await Bun.sleep(POLL_MS);
    }
  }

  /**
   * Single checks through a balancer: what goes through it flat out, then half of that, alone and while a job runs, then flat
   * out while it runs.
   */
  async function throughBalancer(aim: Aim): Promise<BalancerFigures> {
    const capacityPerSecond = median((await paced(aim, null)).map(({ perSecond }) => perSecond));
    const ratePerSecond = capacityPerSecond / 2;
    const alone = await paced(aim, ratePerSecond);
    const jobId = await createJob(aim, jobRows * JOB_BESIDE_TIMES);
    const beside = await rowsDone(aim, jobId, () => paced(aim, ratePerSecond));
    const flatOut = await rowsDone(aim, jobId, () => paced(aim, null));
    await clientOf(aim).cancelJob(jobId);
    return {
      capacityPerSecond,
      ratePerSecond,
      p99Ms: alone.map(({ latency }) => latency.p99),
      besideJob: {
        p50Ms: beside.found.map(({ latency }) => latency.p50),
        p99Ms: beside.found.map(({ latency }) => latency.p99),
        rowsPerSecond: beside.rowsPerSecond,
        wrongOrLost: beside.found.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0),
      },
      flatOutBesideJob: {
        perSecond: median(flatOut.found.map(({ perSecond }) => perSecond)),
        rowsPerSecond: flatOut.rowsPerSecond,
      },
    };
  }

  async function paced(aim: Aim, ratePerSecond: number | null): Promise<readonly SinglesRound[]> {
    const { aims } = await drive({
      kind: "singles",
      aims: [aim],
      traffic: { kind: "warm" },
      connections: CONNECTIONS,
      ratePerSecond,
      spin: false,
      rounds,
      roundMs,
    });
    return aims[0] ?? [];
  }

  /** The rows of a job a second during work; throws where it ended meanwhile, as then nothing was beside it. */
  async function rowsDone<T>(aim: Aim, jobId: string, work: () => Promise<T>) {
    const before = await clientOf(aim).job(jobId);
    const startedMs = performance.now();
    const found = await work();
    const seconds = (performance.now() - startedMs) / 1_000;
    const { status, counts } = await clientOf(aim).job(jobId);
    if (status !== "queued" && status !== "running") throw new Error(`The job was ${status} meanwhile`);
    return { found, rowsPerSecond: (counts.processed - before.counts.processed) / seconds };
  }

  return { single, batch, job, throughBalancer };
}

function sumOf(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
}
