import { Bench } from "tinybench";
import { type Figure, median, overRounds } from "./result.ts";
import type { Subject } from "./subject.ts";

/** Every subject is measured once in each round, so that a busy moment of the machine hits them all alike. */
const ROUNDS = 5;
const ROUND_MS = 220;
const WARMUP_MS = 40;
const TURNS_MIN = 4;

/** Throws where a subject gives a wrong answer: what is wrong is not worth timing. */
export async function proveRight(subjects: readonly Subject[]): Promise<void> {
  for (const { name, fault } of subjects) {
    const found = await fault();
    if (found !== null) throw new Error(`${name}: ${found}`);
  }
}

type Round = { readonly mean: number; readonly p50: number; readonly p99: number };

/** Times the subjects in turn; a figure is the median of its rounds, in calls a second and microseconds a call. */
export async function timeSubjects(subjects: readonly Subject[], scale: number): Promise<Figure[]> {
  const rounds = new Map<string, Round[]>(subjects.map(({ name }) => [name, []]));
  let sink = 0;
  for (let round = 0; round < Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    for (const subject of subjects) {
      const bench = new Bench({
        time: ROUND_MS * scale,
        warmupTime: WARMUP_MS * scale,
        iterations: TURNS_MIN,
        warmupIterations: 1,
        throws: true,
      });
      bench.add(subject.name, async () => {
        sink += await subject.turn();
      });
      const [task] = await bench.run();
      rounds.get(subject.name)?.push(roundOf(task?.result));
    }
  }
  if (!Number.isFinite(sink)) throw new Error("A subject returns no number");
  return subjects.map((subject) => figureOf(subject, rounds.get(subject.name) ?? []));
}

type TaskResult = NonNullable<Awaited<ReturnType<Bench["run"]>>[number]["result"]>;

function roundOf(result: TaskResult | undefined): Round {
  if (result === undefined || !("latency" in result)) throw new Error("A task was not completed");
  const { mean, p50, p99 } = result.latency;
  return { mean, p50, p99 };
}

function figureOf({ group, name, calls }: Subject, rounds: readonly Round[]): Figure {
  const microseconds = (pick: (round: Round) => number) => (median(rounds.map(pick)) / calls) * 1000;
  return {
    name,
    group: `${group} (p50, p99: µs a call, over turns of many calls)`,
    unit: "calls/s",
    better: "higher",
    ...overRounds(rounds.map((round) => 1e3 / (round.p50 / calls))),
    p50: microseconds((round) => round.p50),
    p99: microseconds((round) => round.p99),
  };
}
