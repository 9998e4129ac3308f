import { LARGEST, ONE_AFTER_ANOTHER } from "../load/batch-scenarios.ts";
import { BYSTANDERS_PER_SECOND, LEAD_MS } from "../load/bystander-scenario.ts";
import type { Driver } from "../load/driver-process.ts";
import { FLAT_OUT } from "../load/flat-out-scenario.ts";
import type { SinglesJob, SinglesRound } from "../load/jobs.ts";
import type { Bench } from "../load/scenarios.ts";
import type { BenchServer } from "../load/server-process.ts";
import { requireRight } from "../load/single-figures.ts";
import type { Readings, Subject } from "./comparison.ts";
import { CALL_COST_UNITS, CALL_UNITS, costing, createRunNames, LAG_UNITS } from "./server-cost.ts";

type ServerSubject = Subject<BenchServer>;

/** Two, for what goes on beside something else. */
export type Drivers = { readonly driver: Driver; readonly second: Driver };

const CONNECTIONS = [16, 64, 256] as const;
/** Arrivals a second, a quarter to a half of what two cores do. */
const OFFERED_PER_SECOND = 10_000;
const MIXED_PER_SECOND = 5000;
/** Short ones, and many: what else the machine does changes from second to second. */
export const ROUND_MS = 300;
const ROUNDS = 30;
const WARMUPS = 4;
const BESIDE_ROUNDS = 6;
const BESIDE_ROUND_MS = 1500;
/** Of a p99 of few calls: 1,500 of them in a round, of which 15 are slower. */
const ALONE_ROUNDS = 12;
const ALONE_ROUND_MS = 3000;

/** Single checks of addresses whose domains both servers know: as many as they can answer, and at a set rate. */
export function warmCallSubjects({ ms }: Pick<Bench, "ms">, { driver }: Drivers): readonly ServerSubject[] {
  return [
    ...CONNECTIONS.map((connections) => ({
      name: `single verify, ${connections} connections`,
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_UNITS,
      unitsBeside: LAG_UNITS,
      measure: (server: BenchServer) =>
        measureCalls(driver, server, { ...FLAT_OUT, connections, roundMs: ms(ROUND_MS) }),
    })),
    {
      name: `single verify at ${OFFERED_PER_SECOND.toLocaleString("en")}/s`,
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_COST_UNITS,
      measure: (server) =>
        measureCalls(driver, server, {
          ...FLAT_OUT,
          roundMs: ms(ROUND_MS),
          ratePerSecond: OFFERED_PER_SECOND,
        }),
    },
  ];
}

/** Single checks that come one by one to a server with nothing else to do. */
export function aloneSubject({ ms }: Pick<Bench, "ms">, driver: Driver): ServerSubject {
  return {
    name: `single verify at ${BYSTANDERS_PER_SECOND}/s, alone`,
    rounds: ALONE_ROUNDS,
    warmups: 1,
    units: { p99: "ms" },
    measure: (server) => measureBystanders(driver, server, ms(ALONE_ROUND_MS)),
  };
}

/** Single checks of domains that no server has looked up, and of all kinds beside batches. */
export function coldCallSubjects(
  { ms, items }: Pick<Bench, "ms" | "items">,
  { driver, second }: Drivers,
): readonly ServerSubject[] {
  const [coldRun, mixedRun] = [createRunNames("single"), createRunNames("mixed")];
  return [
    {
      name: "single verify, cold",
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: CALL_UNITS,
      unitsBeside: LAG_UNITS,
      measure: (server) =>
        measureCalls(driver, server, {
          ...FLAT_OUT,
          traffic: { kind: "cold", run: coldRun() },
          roundMs: ms(ROUND_MS),
        }),
    },
    {
      name: "mixed calls beside batches of 1,000",
      rounds: BESIDE_ROUNDS,
      warmups: 1,
      units: { "addresses of the batches a second": "addresses/s", CPU: "µs each" },
      measure: (server) => measureMixed({ driver, second }, server, mixedRun(), ms(BESIDE_ROUND_MS)),
    },
    {
      name: `single verify at ${BYSTANDERS_PER_SECOND}/s beside batches of 100,000`,
      rounds: BESIDE_ROUNDS,
      warmups: 1,
      units: { p99: "ms" },
      measure: (server) =>
        measureBeside({ driver, second }, server, {
          size: items(LARGEST),
          roundMs: ms(BESIDE_ROUND_MS),
          leadMs: ms(LEAD_MS),
        }),
    },
  ];
}

export async function measureCalls(
  driver: Driver,
  server: BenchServer,
  job: Omit<SinglesJob, "aims">,
): Promise<Readings> {
  const { result, costOf } = await costing(server, () => driver.singles({ ...job, aims: [server] }));
  const { perSecond, replies } = rightRound(result.aims.flat());
  return { "calls a second": perSecond, ...costOf(replies) };
}

async function measureMixed(
  { driver, second }: Drivers,
  server: BenchServer,
  run: string,
  roundMs: number,
): Promise<Readings> {
  const calls: Omit<SinglesJob, "aims"> = {
    ...FLAT_OUT,
    traffic: { kind: "mixed", run },
    roundMs,
    ratePerSecond: MIXED_PER_SECOND,
    spin: false,
  };
  const { result, costOf } = await costing(server, () =>
    Promise.all([
      driver.singles({ ...calls, aims: [server] }),
      second.batches({ ...ONE_AFTER_ANOTHER, aims: [server], size: 1000, roundMs }),
    ]),
  );
  const [singles, batches] = result;
  const { replies } = rightRound(singles.aims.flat());
  const [{ addressesPerSecond = Number.NaN, batches: sent = Number.NaN } = {}] = batches.aims.flat();
  const { CPU = Number.NaN } = costOf(replies + sent * 1000);
  return { "addresses of the batches a second": addressesPerSecond, CPU };
}

async function measureBeside(
  { driver, second }: Drivers,
  server: BenchServer,
  { size, roundMs, leadMs }: { readonly size: number; readonly roundMs: number; readonly leadMs: number },
): Promise<Readings> {
  const batches = second.batches({
    ...ONE_AFTER_ANOTHER,
    aims: [server],
    size,
    roundMs: roundMs + 2 * leadMs,
  });
  await Bun.sleep(leadMs);
  const readings = await measureBystanders(driver, server, roundMs);
  await batches;
  return readings;
}

async function measureBystanders(driver: Driver, server: BenchServer, roundMs: number): Promise<Readings> {
  const calls = {
    ...FLAT_OUT,
    roundMs,
    connections: 64,
    ratePerSecond: BYSTANDERS_PER_SECOND,
    spin: false,
  };
  const { aims } = await driver.singles({ ...calls, aims: [server] });
  return { p99: rightRound(aims.flat()).latency.p99 };
}

function rightRound(rounds: readonly SinglesRound[]): SinglesRound {
  requireRight(rounds);
  const [round] = rounds;
  if (round === undefined) throw new Error("a driver reported no round");
  return round;
}
