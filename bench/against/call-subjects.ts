import { LARGEST, ONE_AFTER_ANOTHER } from "../load/batch-scenarios.ts";
import { BYSTANDERS_PER_SECOND } from "../load/bystander-scenario.ts";
import { FLAT_OUT } from "../load/flat-out-scenario.ts";
import type { SinglesJob, SinglesRound } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import { spending } from "../load/readings.ts";
import type { Bench } from "../load/scenarios.ts";
import type { BenchServer } from "../load/server-process.ts";
import { requireRight } from "../load/single-figures.ts";
import type { Readings, Subject } from "./comparison.ts";
import { CALL_COST_UNITS, CALL_UNITS, costOf, createRunNames } from "./server-cost.ts";

type ServerSubject = Subject<BenchServer>;

const CONNECTIONS = [16, 64, 256] as const;
/** Arrivals a second, a quarter to a half of what two cores do. */
const OFFERED_PER_SECOND = 10_000;
const MIXED_PER_SECOND = 5000;
/** Short ones, and many: what else the machine does changes from second to second. */
const ROUND_MS = 500;
const ROUNDS = 15;
const WARMUPS = 3;
const BESIDE_ROUND_MS = 3000;
/** The batches beside the calls begin as much earlier, and go on longer. */
const LEAD_MS = 500;

/** Single checks of addresses whose domains both servers know: as many as they can answer, and at a set rate. */
export function warmCallSubjects({ ms }: Pick<Bench, "ms">): readonly ServerSubject[] {
  return [
    ...CONNECTIONS.map((connections) => ({
      name: `single verify, ${connections} connections`,
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_UNITS,
      measure: (server: BenchServer) =>
        measureCalls(server, { ...FLAT_OUT, connections, roundMs: ms(ROUND_MS) }),
    })),
    {
      name: `single verify at ${OFFERED_PER_SECOND.toLocaleString("en")}/s`,
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_COST_UNITS,
      measure: (server) =>
        measureCalls(server, { ...FLAT_OUT, roundMs: ms(ROUND_MS), ratePerSecond: OFFERED_PER_SECOND }),
    },
  ];
}

/** Single checks of domains that no server has looked up, and of all kinds beside batches. */
export function coldCallSubjects({ ms }: Pick<Bench, "ms">): readonly ServerSubject[] {
  const [coldRun, mixedRun] = [createRunNames("single"), createRunNames("mixed")];
  return [
    {
      name: "single verify, cold",
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_UNITS,
      measure: (server) =>
        measureCalls(server, {
          ...FLAT_OUT,
          traffic: { kind: "cold", run: coldRun() },
          roundMs: ms(ROUND_MS),
        }),
    },
    {
      name: "mixed calls beside batches of 1,000",
      rounds: 3,
      warmups: 1,
      units: { "addresses of the batches a second": "addresses/s", CPU: "µs each" },
      measure: (server) => measureMixed(server, mixedRun(), ms(BESIDE_ROUND_MS)),
    },
    {
      name: `single verify at ${BYSTANDERS_PER_SECOND}/s beside batches of 100,000`,
      rounds: 3,
      warmups: 1,
      units: { p99: "ms" },
      measure: (server) => measureBeside(server, ms(BESIDE_ROUND_MS)),
    },
  ];
}

async function measureCalls(server: BenchServer, job: Omit<SinglesJob, "aims">): Promise<Readings> {
  const { result, spent } = await spending(server, () => drive({ ...job, aims: [server] }));
  const { perSecond, replies } = rightRound(result.aims.flat());
  return { "calls a second": perSecond, ...costOf(spent, replies) };
}

async function measureMixed(server: BenchServer, run: string, roundMs: number): Promise<Readings> {
  const calls: Omit<SinglesJob, "aims"> = {
    ...FLAT_OUT,
    traffic: { kind: "mixed", run },
    roundMs,
    ratePerSecond: MIXED_PER_SECOND,
    spin: false,
  };
  const { result, spent } = await spending(server, () =>
    Promise.all([
      drive({ ...calls, aims: [server] }),
      drive({ ...ONE_AFTER_ANOTHER, aims: [server], size: 1000, roundMs }),
    ]),
  );
  const [singles, batches] = result;
  const { replies } = rightRound(singles.aims.flat());
  const [{ addressesPerSecond = Number.NaN, batches: sent = Number.NaN } = {}] = batches.aims.flat();
  const { CPU = Number.NaN } = costOf(spent, replies + sent * 1000);
  return { "addresses of the batches a second": addressesPerSecond, CPU };
}

async function measureBeside(server: BenchServer, roundMs: number): Promise<Readings> {
  const batches = drive({
    ...ONE_AFTER_ANOTHER,
    aims: [server],
    size: LARGEST,
    roundMs: roundMs + 2 * LEAD_MS,
  });
  await Bun.sleep(LEAD_MS);
  const calls = {
    ...FLAT_OUT,
    roundMs,
    connections: 64,
    ratePerSecond: BYSTANDERS_PER_SECOND,
    spin: false,
  };
  const { aims } = await drive({ ...calls, aims: [server] });
  await batches;
  return { p99: rightRound(aims.flat()).latency.p99 };
}

function rightRound(rounds: readonly SinglesRound[]): SinglesRound {
  requireRight(rounds);
  const [round] = rounds;
  if (round === undefined) throw new Error("a driver reported no round");
  return round;
}
