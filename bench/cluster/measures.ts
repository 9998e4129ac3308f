import { createClient } from "../../src/client/client.ts";
import { PART_BYTES_MAX } from "../../src/contract/words.ts";
import { addressCorpus } from "../input.ts";
import { type Aim, CORPUS, type SinglesRound } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { median } from "../result.ts";
import type { BalancerFigures } from "./result.ts";

export type MeasureOptions = {
  /** Of calls at half their capacity: how many times alone and beside a job, and rounds of each. */
  readonly turns: number;
  readonly turnRounds: number;
  readonly roundMs: number;
  readonly batchSize: number;
  readonly jobRows: number;
  /** Of the job beside which calls are measured, and which must outlast them. */
  readonly jobRowsBeside: number;
};

const CONNECTIONS = 192;
const BATCHES_AT_A_TIME = 3;
/** The client's stream of events has the end up to half a second late. */
const POLL_MS = 20;
/** How often the rows of a job beside calls are looked at: often enough for a round, and no load. */
const WATCH_EVERY_MS = 100;

type RowsSeen = { readonly atMs: number; readonly rows: number };
type RoundBesideJob = SinglesRound & { readonly rowsPerSecond: number };

type BalancerTurn = {
  readonly capacityPerSecond: number;
  readonly alone: readonly SinglesRound[];
  readonly beside: readonly RoundBesideJob[];
};

/** What is measured of a group of servers: items a second of each kind, and single checks through a balancer. */
export function createMeasures(options: MeasureOptions) {
  const { turns, turnRounds, roundMs, batchSize, jobRows, jobRowsBeside } = options;
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
   * Single checks through a balancer, by turns: what goes through it flat out, then half of that alone and while a job runs.
   * Each turn has a rate of its own, as what the machine does changes within minutes. Then flat out while the job runs.
   */
  async function throughBalancer(aim: Aim): Promise<BalancerFigures> {
    const jobId = await createJob(aim, jobRowsBeside);
    const found: BalancerTurn[] = [];
    for (let turn = 0; turn < turns; turn += 1) found.push(await balancerTurn(aim, jobId, turn % 2 === 1));
    const flatOut = await pacedBesideJob(aim, null, jobId);
    await clientOf(aim).cancelJob(jobId);
    const alone = found.flatMap((turn) => turn.alone);
    const beside = found.flatMap((turn) => turn.beside);
    return {
      capacitiesPerSecond: found.map(({ capacityPerSecond }) => capacityPerSecond),
      p99Ms: alone.map(({ latency }) => latency.p99),
      besideJob: {
        p50Ms: beside.map(({ latency }) => latency.p50),
        p99Ms: beside.map(({ latency }) => latency.p99),
        rowsPerSecond: median(beside.map(({ rowsPerSecond }) => rowsPerSecond)),
        wrongOrLost: beside.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0),
      },
      flatOutBesideJob: {
        perSecond: median(flatOut.map(({ perSecond }) => perSecond)),
        rowsPerSecond: median(flatOut.map(({ rowsPerSecond }) => rowsPerSecond)),
      },
    };
  }

  async function balancerTurn(aim: Aim, jobId: string, isBesideFirst: boolean): Promise<BalancerTurn> {
    await clientOf(aim).pauseJob(jobId);
    const [flatOut] = await paced(aim, null, 1);
    const capacityPerSecond = flatOut?.perSecond ?? Number.NaN;
    const ratePerSecond = capacityPerSecond / 2;
    const besideFirst = isBesideFirst ? await pacedBesideJob(aim, ratePerSecond, jobId) : null;
    await clientOf(aim).pauseJob(jobId);
    const alone = await paced(aim, ratePerSecond, turnRounds);
    const beside = besideFirst ?? (await pacedBesideJob(aim, ratePerSecond, jobId));
    return { capacityPerSecond, alone, beside };
  }

  async function paced(
    aim: Aim,
    ratePerSecond: number | null,
    roundsOfAim: number,
  ): Promise<readonly SinglesRound[]> {
    const { aims } = await drive({
      kind: "singles",
      aims: [aim],
      traffic: { kind: "warm" },
      connections: CONNECTIONS,
      ratePerSecond,
      spin: false,
      rounds: roundsOfAim,
      roundMs,
    });
    return aims[0] ?? [];
  }

  /** Counts what the job does in the rounds alone: before them and between them it has the machine for itself. */
  async function pacedBesideJob(
    aim: Aim,
    ratePerSecond: number | null,
    jobId: string,
  ): Promise<readonly RoundBesideJob[]> {
    await clientOf(aim).resumeJob(jobId);
    let isOver = false;
    const measuring = paced(aim, ratePerSecond, turnRounds).finally(() => {
      isOver = true;
    });
    const [found, seen] = await Promise.all([measuring, watchRows(aim, jobId, () => isOver)]);
    const rowsAt = (atMs: number) => seen.findLast((each) => each.atMs <= atMs)?.rows ?? 0;
    return found.map((round) => {
      const rows = rowsAt(round.endedAtMs) - rowsAt(round.beganAtMs);
      return { ...round, rowsPerSecond: (rows * 1_000) / (round.endedAtMs - round.beganAtMs) };
    });
  }

  /** Throws where the job ends meanwhile, as then nothing is beside the calls. */
  async function watchRows(aim: Aim, jobId: string, isOver: () => boolean): Promise<readonly RowsSeen[]> {
    const seen: RowsSeen[] = [];
    while (!isOver()) {
      const { status, counts } = await clientOf(aim).job(jobId);
      if (status !== "queued" && status !== "running") throw new Error(`The job was ${status} meanwhile`);
      seen.push({ atMs: Date.now(), rows: counts.processed });
      await Bun.sleep(WATCH_EVERY_MS);
    }
    return seen;
  }

  return { single, batch, job, throughBalancer };
}

function sumOf(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
}
