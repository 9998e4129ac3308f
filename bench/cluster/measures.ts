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
const NOTHING: Measured = { perSecond: Number.NaN, items: Number.NaN };

export type Measured = {
  readonly perSecond: number;
  /** All that the servers did meanwhile, which is more than was timed. */
  readonly items: number;
};

export type Measures = { readonly [kind in Kind]: (servers: readonly Aim[]) => Promise<Measured> };

/** What is measured of a group of servers, of each kind. */
export function createMeasures({ roundMs, batchSize, jobRows, createJob }: MeasureOptions): Measures {
  /** Calls without a pause, from one driver over as many connections in sum whatever the number of servers. */
  async function single(servers: readonly Aim[]): Promise<Measured> {
    const { aims } = await drive({
      kind: "singles",
      aims: [aimOf(servers)],
      traffic: { kind: "warm" },
      connections: CONNECTIONS,
      ratePerSecond: null,
      spin: false,
      rounds: 1,
      roundMs,
    });
    const round = aims[0]?.[0];
    return round === undefined ? NOTHING : { perSecond: round.perSecond, items: round.replies };
  }

  /** Batches one after the other, from one driver and as many at a time in sum whatever the number of servers. */
  async function batch(servers: readonly Aim[]): Promise<Measured> {
    const { aims } = await drive({
      kind: "batches",
      aims: [aimOf(servers)],
      size: batchSize,
      parallel: BATCHES_AT_A_TIME,
      rounds: 1,
      roundMs,
      cold: null,
    });
    const round = aims[0]?.[0];
    return round === undefined
      ? NOTHING
      : { perSecond: round.addressesPerSecond, items: round.batches * batchSize };
  }

  /** From the 202 to the end; its rows are items of the intake, too. */
  async function job(servers: readonly Aim[]): Promise<Measured> {
    const aim = aimOf(servers);
    const jobId = await createJob(aim, jobRows);
    const startedMs = performance.now();
    await jobEnded(aim, jobId);
    const perSecond = (jobRows * 1_000) / (performance.now() - startedMs);
    await clientOf(aim).deleteJob(jobId);
    return { perSecond, items: jobRows };
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

/** Returns a group of servers as one aim. Throws where it is empty. */
function aimOf([first, ...others]: readonly Aim[]): Aim {
  if (first === undefined) throw new Error("Nothing is to be measured");
  return { url: first.url, key: first.key, otherUrls: others.map(({ url }) => url) };
}
