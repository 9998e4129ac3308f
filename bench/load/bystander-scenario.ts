import { type Figure, judgeTarget, overRounds } from "../result.ts";
import { LARGEST, ONE_AFTER_ANOTHER } from "./batch-scenarios.ts";
import type { SinglesRound } from "./jobs.ts";
import { drive } from "./processes.ts";
import { type Bench, type Findings, medianOf } from "./scenarios.ts";
import { requireRight } from "./single-figures.ts";

/** Single checks a second while batches run: enough for a p99, too few to be the load themselves. */
export const BYSTANDERS_PER_SECOND = 500;
/** The batches begin as much before the first of the checks, and end as much later. */
export const LEAD_MS = 500;

/** Single checks on a schedule, by turns alone and beside batches of 100,000 that come back to back. */
export async function measureBystanders({ server, ms, rounds, items }: Bench): Promise<Findings> {
  const roundMs = ms(5000);
  const bystanders = {
    kind: "singles",
    aims: [server],
    traffic: { kind: "warm" },
    connections: 64,
    ratePerSecond: BYSTANDERS_PER_SECOND,
    spin: false,
    rounds: 1,
    roundMs,
  } as const;
  const rightRounds = async () => {
    const found = (await drive(bystanders)).aims.flat();
    requireRight(found);
    return found;
  };
  const alone: SinglesRound[] = [];
  const beside: SinglesRound[] = [];
  for (let round = 0; round < rounds(3); round += 1) {
    alone.push(...(await rightRounds()));
    const batches = drive({
      ...ONE_AFTER_ANOTHER,
      aims: [server],
      size: items(LARGEST),
      roundMs: roundMs + 2 * LEAD_MS,
    });
    await Bun.sleep(LEAD_MS);
    beside.push(...(await rightRounds()));
    await batches;
  }
  const [quiet, busy] = [medianOf(alone, p99), medianOf(beside, p99)];
  const note = `${quiet.toFixed(1)} ms alone, ${busy.toFixed(1)} ms beside, at ${BYSTANDERS_PER_SECOND} a second`;
  const what = "p99 of single verify while 100,000-address batches run back to back";
  return {
    figures: [
      bystanderFigure("single verify at 500/s, alone", alone),
      bystanderFigure("single verify at 500/s, beside batches of 100,000", beside),
    ],
    targets: [
      judgeTarget({ what, against: "its p99 alone", bound: { atMost: 6 }, measured: busy / quiet, note }),
      judgeTarget({ what, against: "", bound: { atMost: 40 }, unit: "ms", measured: busy, note }),
    ],
  };
}

const p99 = ({ latency }: SinglesRound) => latency.p99;

function bystanderFigure(name: string, rounds: readonly SinglesRound[]): Figure {
  return {
    name,
    group: "single checks (p50, p99: ms, from the moment that the schedule sets)",
    unit: "ms (p99)",
    better: "lower",
    ...overRounds(rounds.map(p99)),
    p50: medianOf(rounds, ({ latency }) => latency.p50),
    p99: medianOf(rounds, p99),
  };
}
