import type { Aim } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { type CreateJob, clientOf } from "./created-job.ts";
import type { Kind } from "./result.ts";

export type MeasureOptions = {
  readonly roundMs: number;
  readonly batchSize: number;
  readonly jobRows: number;
  readonly createJob: CreateJob;
};

/** In sum, whatever they are spread over. */
export const CONNECTIONS = 192;

const BATCHES_AT_A_TIME = 3;
/** The client's stream of events has the end up to half a second late. */
const POLL_MS = 20;

export type Measures = { readonly [kind in Kind]: (servers: readonly Aim[]) => Promise<number> };

/** What is measured of a group of servers: items a second of each kind. */
export function createMeasures({ roundMs, batchSize, jobRows, createJob }: MeasureOptions): Measures {
  /** Calls without a pause, from one driver over as many connections in sum whatever the number of servers. */
  async function single(servers: readonly Aim[]): Promise<number> {
    const [first, ...others] = servers;
    if (first === undefined) return Number.NaN;
    const { aims } = await drive({
      kind: "singles",
      aims: [{ url: first.url, key: first.key, otherUrls: others.map(({ url }) => url) }],
      traffic: { kind: "warm" },
      connections: CONNECTIONS,
      ratePerSecond: null,
      spin: false,
      rounds: 1,
      roundMs,
    });
    return aims[0]?.[0]?.perSecond ?? Number.NaN;
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

  async function jobEnded(aim: Aim, jobId: string): Promise<void> {
    for (;;) {
      const { status } = await clientOf(aim).job(jobId);
      if (status === "completed") return;
      if (status !== "queued" && status !== "running") throw new Error(`The job is ${status}`);
      await Bun.sleep(POLL_MS);
    }
  }

  return { single, batch, job };
}

function sumOf(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
}
