import { type Figure, judgeTarget, median, overRounds, type RoundRange } from "../result.ts";
import { measureSyncMs } from "./disk-sync.ts";
import type { Aim, SinglesJob } from "./jobs.ts";
import { drive, startFile } from "./processes.ts";
import { replyToCopy } from "./proof.ts";
import { spending } from "./readings.ts";
import { type Bench, type Findings, medianOf, medianRatio } from "./scenarios.ts";
import { requireRight, SINGLES_GROUP, singleFigures } from "./single-figures.ts";
import { warmPaths } from "./singles.ts";
import { openWrk } from "./wrk.ts";

/** Few callers and many: the more calls are under way, the more of them share a commit. */
const CONNECTIONS = [
  { connections: 16, atLeast: 0.35 },
  { connections: 64, atLeast: 0.6 },
  { connections: 256, atLeast: 0.6 },
] as const;
const CONNECTIONS_BEST = 256;
const WRK_CONNECTIONS = 64;
/** Two drivers agree where they are no further apart. */
const WRK_APART_MAX = 0.1;
/** Code that is not yet compiled runs at a third of its speed. */
const WARMUP_MS = 2500;

/** Single checks by as many connections as do most, without a schedule. */
export const FLAT_OUT = {
  kind: "singles",
  traffic: { kind: "warm" },
  connections: CONNECTIONS_BEST,
  ratePerSecond: null,
  spin: true,
  rounds: 1,
  roundMs: 1000,
} as const satisfies Omit<SinglesJob, "aims">;

/** What was found with one number of connections. */
type FlatOut = {
  readonly connections: number;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  readonly ratioRange: RoundRange;
  readonly driverBusy: number;
  readonly figures: readonly Figure[];
};

/** Warm single checks without a pause, by turns with a bare server that writes the same reply. */
export async function measureSinglesFlatOut(
  bench: Bench,
): Promise<Findings & { readonly perSecond: number }> {
  const reply = await replyToCopy(bench.server);
  await using bare = await startFile("bench/load/bare-server.ts", {}, { argument: JSON.stringify(reply) });
  const url = /listens on (http\S+)/.exec(bare.line)?.[1] ?? "";
  const aims = [bench.server, { url, key: bench.server.key }];
  await drive({ ...FLAT_OUT, aims, roundMs: bench.ms(WARMUP_MS) });
  const found: FlatOut[] = [];
  for (const { connections } of CONNECTIONS) found.push(await flatOutWith(bench, aims, connections));
  const best = found.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
  const syncMs = await measureSyncMs();
  const targets = found.map(({ connections, ratio, ratioRange, perSecond, barePerSecond, driverBusy }, at) =>
    judgeTarget({
      what: `single verify, warm, authenticated, metered to disk, ${connections} connections`,
      against: "a bare `Bun.serve` route writing the same reply",
      bound: { atLeast: CONNECTIONS[at]?.atLeast ?? 0 },
      measured: ratio,
      note: [
        `${ratioRange.least.toFixed(2)} to ${ratioRange.most.toFixed(2)} in ${ratioRange.rounds} rounds`,
        `${thousands(perSecond)} against ${thousands(barePerSecond)} a second`,
        `an fdatasync takes ${syncMs.toFixed(2)} ms, in which all connections once would be ${thousands((connections / syncMs) * 1000)} a second`,
        `the driver was busy for ${Math.round(driverBusy * 100)} % of a core`,
      ].join("; "),
    }),
  );
  const byWrk = await measureByWrk(bench, aims);
  return {
    perSecond: best.perSecond,
    figures: [...found.flatMap(({ figures }) => figures), ...byWrk.figures],
    targets: [...targets, ...byWrk.targets],
  };
}

/** The same by another driver at the same connections, by turns with ours. */
async function measureByWrk({ ms, rounds }: Bench, aims: readonly Aim[]): Promise<Findings> {
  using wrk = openWrk(warmPaths());
  if (wrk === null) return { figures: [], targets: [] };
  const names = ["single verify, warm", "bare Bun.serve, the same reply"];
  const found = names.map(() => ({ ours: [] as number[], wrk: [] as number[] }));
  const job = { ...FLAT_OUT, connections: WRK_CONNECTIONS, roundMs: ms(1000) };
  for (let round = 0; round < rounds(5); round += 1) {
    for (const [at, aim] of aims.entries()) {
      const { aims: driven } = await drive({ ...job, aims: [aim] });
      found[at]?.ours.push(...driven.flat().map(({ perSecond }) => perSecond));
      found[at]?.wrk.push(await wrk.perSecond(aim, WRK_CONNECTIONS, 1));
    }
  }
  const figures = found.map(
    ({ wrk: perSeconds }, at): Figure => ({
      name: `${names[at]}, by wrk, ${WRK_CONNECTIONS} connections`,
      group: SINGLES_GROUP,
      unit: "checks/s",
      better: "neither",
      ...overRounds(perSeconds),
    }),
  );
  const targets = found.map(({ ours, wrk: perSeconds }, at) => {
    const ratio = medianRatio(ours, perSeconds);
    return judgeTarget({
      what: `our driver against wrk: ${names[at]}, ${WRK_CONNECTIONS} connections`,
      against: "wrk, by turns",
      bound: { atMost: WRK_APART_MAX },
      unit: "apart",
      measured: Math.abs(ratio - 1),
      note: `ours finds ${ratio.toFixed(2)} of what wrk finds, ${thousands(median(ours))} against ${thousands(median(perSeconds))} a second`,
    });
  });
  return { figures, targets };
}

const thousands = (value: number) => Math.round(value).toLocaleString("en");

async function flatOutWith(
  { server, ms, rounds }: Bench,
  aims: readonly Aim[],
  connections: number,
): Promise<FlatOut> {
  // Many short rounds: the bare server has a quick and a slow way of running, and changes between them.
  const job = { ...FLAT_OUT, aims, connections, rounds: rounds(7), roundMs: ms(1200) };
  const { result, spent } = await spending(server, () => drive(job));
  const [ours = [], bare = []] = result.aims;
  requireRight([...ours, ...bare]);
  const perSecond = medianOf(ours, (round) => round.perSecond);
  const ratios = overRounds(ours.map((round, at) => round.perSecond / (bare[at]?.perSecond ?? Number.NaN)));
  const checks = (perSecond * job.roundMs * job.rounds) / 1000;
  const name = connections === CONNECTIONS_BEST ? "" : `, ${connections} connections`;
  return {
    connections,
    perSecond,
    barePerSecond: medianOf(bare, (round) => round.perSecond),
    ratio: ratios.value,
    ratioRange: ratios.range,
    driverBusy: medianOf(bare, (round) => round.driverBusy),
    figures: [
      ...singleFigures(`single verify, warm, flat out${name}`, ours, spent, checks),
      ...singleFigures(`bare Bun.serve, the same reply, flat out${name}`, bare, null, 0),
    ],
  };
}
