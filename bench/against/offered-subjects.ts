import type { Driver } from "../load/driver-process.ts";
import { FLAT_OUT } from "../load/flat-out-scenario.ts";
import { type Bench, medianOf } from "../load/scenarios.ts";
import type { BenchServer } from "../load/server-process.ts";
import { measureCalls, ROUND_MS } from "./call-subjects.ts";
import type { Subject } from "./comparison.ts";
import { CALL_COST_UNITS, createRunNames, LAG_UNITS } from "./server-cost.ts";

const PROBE_ROUNDS = 5;
/** As in `bench:load`: in a short round of few calls most of the cost would be that of opening its connections. */
const OFFERED_ROUND_MS = 1500;
const OFFERED_ROUNDS = 10;

/** What a server does flat out, by which loads for both are sized. */
export type FlatOutRates = { readonly warm: number; readonly cold: number };

/** Finds what a server does, in some rounds of each kind. */
export async function flatOutRates(
  { ms, rounds }: Pick<Bench, "ms" | "rounds">,
  driver: Driver,
  server: BenchServer,
): Promise<FlatOutRates> {
  const job = { ...FLAT_OUT, aims: [server], rounds: rounds(PROBE_ROUNDS), roundMs: ms(ROUND_MS) };
  const warm = await driver.singles(job);
  const cold = await driver.singles({ ...job, traffic: { kind: "cold", run: "probe" } });
  return {
    warm: medianOf(warm.aims.flat(), ({ perSecond }) => perSecond),
    cold: medianOf(cold.aims.flat(), ({ perSecond }) => perSecond),
  };
}

/** Single checks at shares of what a server does flat out, the same rates for both. */
export function offeredSubjects(
  { ms }: Pick<Bench, "ms">,
  driver: Driver,
  { warm, cold }: FlatOutRates,
  shares: readonly number[],
): readonly Subject<BenchServer>[] {
  const coldRun = createRunNames("half");
  const offered = (perSecond: number) => ({
    ...FLAT_OUT,
    roundMs: ms(OFFERED_ROUND_MS),
    ratePerSecond: Math.max(1, Math.round(perSecond)),
  });
  const common = {
    rounds: OFFERED_ROUNDS,
    warmups: 1,
    units: CALL_COST_UNITS,
    unitsBeside: LAG_UNITS,
  } as const;
  return [
    ...shares.map((share) => ({
      ...common,
      name: `single verify at ${share * 100} % of flat out`,
      measure: (server: BenchServer) => measureCalls(driver, server, offered(warm * share)),
    })),
    {
      ...common,
      name: "single verify, cold, at half of flat out",
      measure: (server: BenchServer) =>
        measureCalls(driver, server, {
          ...offered(cold / 2),
          traffic: { kind: "cold", run: coldRun() },
        }),
    },
  ];
}
