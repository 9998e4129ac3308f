import { judgeTarget, median, overRounds } from "../result.ts";
import type { ColdLookups, ColdLookupsJob } from "./cold-lookups-job.ts";
import { runFile } from "./processes.ts";
import type { Bench, Findings } from "./scenarios.ts";
import { startServerProcess } from "./server-process.ts";

export const COLD_NAMES = 20_000;
const STARTS = 7;

/** Cold MX look-ups through resolver and cache, by turns with c-ares at several numbers in flight. */
export async function measureColdLookups({ dns, options, rounds, items }: Bench): Promise<Findings> {
  const job: ColdLookupsJob = {
    server: dns.address,
    names: items(options.quick ? COLD_NAMES / 10 : COLD_NAMES),
    rounds: rounds(9),
    cAresInFlight: [25, 50, 100, 200],
  };
  const { ours, cAres } = (await runFile("bench/load/cold-lookups.ts", job)) as ColdLookups;
  const settings = [...Map.groupBy(cAres, ({ inFlight }) => inFlight)].map(([inFlight, found]) => ({
    inFlight,
    perSecond: median(found.map(({ perSecond }) => perSecond)),
    rounds: found.map((round) => round.perSecond),
    lost: found.reduce((total, { lost }) => total + lost, 0),
  }));
  const best = settings.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
  const perSecond = median(ours.map((round) => round.perSecond));
  const lost = ours.reduce((total, round) => total + round.lost, 0);
  const group = `cold MX look-ups (${dns.software})`;
  const figure = (name: string, rounds: readonly number[]) =>
    ({ name, group, unit: "look-ups/s", better: "higher", ...overRounds(rounds) }) as const;
  return {
    figures: [
      figure(
        "cold MX look-ups through resolver and cache",
        ours.map((round) => round.perSecond),
      ),
      ...settings.map((one) => ({
        ...figure(`cold MX look-ups, c-ares, ${one.inFlight} in flight`, one.rounds),
        better: "neither" as const,
      })),
    ],
    targets: [
      judgeTarget({
        what: "cold MX look-ups through the cache",
        against: "Bun's c-ares on the same server at its best setting",
        bound: { atLeast: 1.5 },
        measured: lost === 0 ? perSecond / best.perSecond : null,
        note: `${Math.round(perSecond)} against ${Math.round(best.perSecond)} a second (${best.inFlight} in flight, ${best.lost} lost); ${lost} answers lost`,
      }),
    ],
  };
}

/** From the spawn to the first answered request, several times. */
export async function measureStart({ dns, options, rounds }: Bench): Promise<Findings> {
  const times: number[] = [];
  for (let start = 0; start < rounds(STARTS); start += 1) {
    await using server = await startServerProcess({ dns: dns.address, cores: options.cores });
    times.push(server.startMs);
  }
  const value = median(times);
  return {
    figures: [
      {
        name: "start to first answered request",
        group: "start (p99: the slowest)",
        unit: "ms",
        better: "lower",
        ...overRounds(times),
        p50: value,
        p99: Math.max(...times),
      },
    ],
    targets: [
      judgeTarget({
        what: "start to first answered request",
        against: "",
        bound: { atMost: 250 },
        unit: "ms",
        measured: value,
        note: `the median of ${times.length}; the slowest ${Math.max(...times).toFixed(0)} ms`,
      }),
    ],
  };
}
