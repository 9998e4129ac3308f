import type { Spent } from "../load/readings.ts";
import type { Readings } from "./comparison.ts";

export const CALL_COST_UNITS = { CPU: "µs a call", "CPU of the main thread": "µs a call" } as const;
export const CALL_UNITS = { "calls a second": "calls/s", ...CALL_COST_UNITS } as const;
export const ITEM_UNITS = {
  "items a second": "items/s",
  CPU: "µs an item",
  "CPU of the main thread": "µs an item",
} as const;

/** What a server spent on each call or item. */
export function costOf({ cpuSeconds, mainThreadSeconds }: Spent, items: number): Readings {
  const micros = (seconds: number | null) => ((seconds ?? Number.NaN) * 1e6) / items;
  return { CPU: micros(cpuSeconds), "CPU of the main thread": micros(mainThreadSeconds) };
}

/** Names for domains that no round before has asked for, the same in each run. */
export function createRunNames(prefix: string): () => string {
  let runs = 0;
  return () => `${prefix}${runs++}`;
}
