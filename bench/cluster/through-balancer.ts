import { watchDisk } from "../load/disk-sync.ts";
import { type Driver, startDriver } from "../load/driver-process.ts";
import type { Aim, SinglesRound } from "../load/jobs.ts";
import { median } from "../result.ts";
import { type CreateJob, clientOf } from "./created-job.ts";
import { CONNECTIONS } from "./measures.ts";
import type { BalancerFigures } from "./result.ts";

export type BalancerOptions = {
  /** How many times alone and beside a job, and rounds of each. */
  readonly turns: number;
  readonly turnRounds: number;
  readonly roundMs: number;
  /** Of the job, which must outlast the calls. */
  readonly jobRows: number;
  readonly createJob: CreateJob;
};

/** Calls at one server, and the job that runs beside them or is paused. */
type Scene = Pick<BalancerOptions, "turnRounds" | "roundMs"> & {
  readonly driver: Driver;
  readonly aim: Aim;
  readonly jobId: string;
};

type RowsSeen = { readonly atMs: number; readonly rows: number };
type RoundBesideJob = SinglesRound & { readonly rowsPerSecond: number };

type BalancerTurn = {
  readonly capacityPerSecond: number;
  readonly alone: readonly SinglesRound[];
  readonly beside: readonly RoundBesideJob[];
};

/** How often the rows of a job beside calls are looked at: often enough for a round, and no load. */
const WATCH_EVERY_MS = 100;

/**
 * Single checks through a balancer, by turns: what goes through it flat out, then half of that alone and while a job runs.
 * Each turn has a rate of its own, as what the machine does changes within minutes. Then flat out while the job runs. All
 * calls come from one driver: what a new one compiles as it starts takes both cores in the first round of its turn.
 */
export async function throughBalancer(aim: Aim, options: BalancerOptions): Promise<BalancerFigures> {
  const { turns, turnRounds, roundMs } = options;
  const jobId = await options.createJob(aim, options.jobRows);
  await using disk = watchDisk();
  await using driver = await startDriver();
  const scene: Scene = { driver, aim, jobId, turnRounds, roundMs };
  const found: BalancerTurn[] = [];
  for (let turn = 0; turn < turns; turn += 1) found.push(await balancerTurn(scene, turn % 2 === 1));
  const flatOut = await pacedBesideJob(scene, null);
  await clientOf(aim).cancelJob(jobId);
  const alone = found.flatMap((turn) => turn.alone);
  const beside = found.flatMap((turn) => turn.beside);
  const diskMs = (rounds: readonly SinglesRound[]) =>
    rounds.map(({ beganAtMs, endedAtMs }) => disk.longestMs(beganAtMs, endedAtMs));
  return {
    capacitiesPerSecond: found.map(({ capacityPerSecond }) => capacityPerSecond),
    p99Ms: alone.map(({ latency }) => latency.p99),
    diskMs: diskMs(alone),
    besideJob: {
      p50Ms: beside.map(({ latency }) => latency.p50),
      p99Ms: beside.map(({ latency }) => latency.p99),
      diskMs: diskMs(beside),
      rowsPerSecond: median(beside.map(({ rowsPerSecond }) => rowsPerSecond)),
      wrongOrLost: beside.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0),
    },
    flatOutBesideJob: {
      perSecond: median(flatOut.map(({ perSecond }) => perSecond)),
      rowsPerSecond: median(flatOut.map(({ rowsPerSecond }) => rowsPerSecond)),
    },
  };
}

async function balancerTurn(scene: Scene, isBesideFirst: boolean): Promise<BalancerTurn> {
  const { aim, jobId, turnRounds } = scene;
  await clientOf(aim).pauseJob(jobId);
  const [flatOut] = await paced(scene, null, 1);
  const capacityPerSecond = flatOut?.perSecond ?? Number.NaN;
  const ratePerSecond = capacityPerSecond / 2;
  const besideFirst = isBesideFirst ? await pacedBesideJob(scene, ratePerSecond) : null;
  await clientOf(aim).pauseJob(jobId);
  const alone = await paced(scene, ratePerSecond, turnRounds);
  const beside = besideFirst ?? (await pacedBesideJob(scene, ratePerSecond));
  return { capacityPerSecond, alone, beside };
}

async function paced(
  { driver, aim, roundMs }: Scene,
  ratePerSecond: number | null,
  rounds: number,
): Promise<readonly SinglesRound[]> {
  const { aims } = await driver.singles({
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

/** Counts what the job does in the rounds alone: before them and between them it has the machine for itself. */
async function pacedBesideJob(
  scene: Scene,
  ratePerSecond: number | null,
): Promise<readonly RoundBesideJob[]> {
  const { aim, jobId, turnRounds } = scene;
  await clientOf(aim).resumeJob(jobId);
  let isOver = false;
  const measuring = paced(scene, ratePerSecond, turnRounds).finally(() => {
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
  const client = clientOf(aim);
  const seen: RowsSeen[] = [];
  while (!isOver()) {
    const { status, counts } = await client.job(jobId);
    if (status !== "queued" && status !== "running") throw new Error(`The job was ${status} meanwhile`);
    seen.push({ atMs: Date.now(), rows: counts.processed });
    await Bun.sleep(WATCH_EVERY_MS);
  }
  return seen;
}
