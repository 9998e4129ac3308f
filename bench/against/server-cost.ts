import { spending } from "../load/readings.ts";
import type { BenchServer } from "../load/server-process.ts";
import type { Readings } from "./comparison.ts";

export const CALL_COST_UNITS = { CPU: "µs a call", "CPU of the main thread": "µs a call" } as const;
export const CALL_UNITS = { "calls a second": "calls/s", ...CALL_COST_UNITS } as const;
export const ITEM_UNITS = {
  "items a second": "items/s",
  CPU: "µs an item",
  "CPU of the main thread": "µs an item",
} as const;
/** The longest of a round: of all that is found it is what differs most from one round to the next. */
export const LAG_UNITS = { "lag of the event loop": "ms at most" } as const;

/** Does some work and returns, beside what came of it, what the server spent on each call or item meanwhile. */
export async function costing<T>(
  server: BenchServer,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly costOf: (items: number) => Readings }> {
  const { result, spent } = await spending(server, work);
  const micros = (seconds: number | null, items: number) => ((seconds ?? Number.NaN) * 1e6) / items;
  return {
    result,
    costOf: (items) => ({
      CPU: micros(spent.cpuSeconds, items),
      "CPU of the main thread": micros(spent.mainThreadSeconds, items),
      "lag of the event loop": spent.loopLagMaxMs,
    }),
  };
}

/** Names for domains that no round before has asked for, the same in each run. */
export function createRunNames(prefix: string): () => string {
  let runs = 0;
  return () => `${prefix}${runs++}`;
}
