import { cpuSeconds } from "../load/proc.ts";
import type { BenchServer } from "../load/server-process.ts";
import type { Readings } from "./comparison.ts";

export const CALL_COST_UNITS = { CPU: "µs a call", "CPU of the main thread": "µs a call" } as const;
export const CALL_UNITS = { "calls a second": "calls/s", ...CALL_COST_UNITS } as const;
export const ITEM_UNITS = {
  "items a second": "items/s",
  CPU: "µs an item",
  "CPU of the main thread": "µs an item",
} as const;

/** Does some work and returns, beside what came of it, what the server spent on each call or item meanwhile. */
export async function costing<T>(
  { pid }: BenchServer,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly costOf: (items: number) => Readings }> {
  const before = cpuSeconds(pid);
  const result = await work();
  const after = cpuSeconds(pid);
  const micros = (kind: "all" | "mainThread", items: number) =>
    (((after?.[kind] ?? Number.NaN) - (before?.[kind] ?? Number.NaN)) * 1e6) / items;
  return {
    result,
    costOf: (items) => ({ CPU: micros("all", items), "CPU of the main thread": micros("mainThread", items) }),
  };
}

/** Names for domains that no round before has asked for, the same in each run. */
export function createRunNames(prefix: string): () => string {
  let runs = 0;
  return () => `${prefix}${runs++}`;
}
