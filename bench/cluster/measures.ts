import { createClient } from "../../src/client/client.ts";
import { addressCorpus } from "../input.ts";
import { type Aim, CORPUS } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { shown } from "../print.ts";

export type MeasureOptions = {
  readonly rounds: number;
  readonly roundMs: number;
  readonly batchSize: number;
  readonly jobRows: number;
};

const CONNECTIONS = 192;
const BATCHES_AT_A_TIME = 3;
/** The client's stream of events tells of the end up to half a second late. */
const POLL_MS = 20;
const PART_BYTES_MAX = 67_108_864;

/** What is measured of a group of servers: items a second of each kind, and single checks beside a job. */
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

  /** Latency of single checks through the balancer while a job runs. */
  async function besideJob(aim: Aim, ratePerSecond: number): Promise<string> {
    const jobId = await createJob(aim, jobRows * 10);
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
    const { status, counts } = await clientOf(aim).job(jobId);
    await clientOf(aim).cancelJob(jobId);
    const found = aims[0] ?? [];
    const p99 = found.map(({ latency }) => shown(latency.p99)).join(", ");
    return `${shown(ratePerSecond)} single checks a second through the balancer beside a job (${status}, ${shown(counts.processed)} rows): p99 ${p99} ms; ${sumOf(found.map(({ wrong, lost }) => wrong + lost))} wrong or lost`;
  }

  return { single, batch, job, besideJob };
}

function sumOf(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
}
