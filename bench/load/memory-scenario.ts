import { type Figure, judgeTarget, median, overRounds } from "../result.ts";
import { LARGEST, ONE_AFTER_ANOTHER } from "./batch-scenarios.ts";
import { memoryMb, resetPeak } from "./proc.ts";
import { drive } from "./processes.ts";
import type { Bench, Findings } from "./scenarios.ts";
import { type ServerOptions, startServerProcess } from "./server-process.ts";

/** Fresh servers for each memory figure, of which the middle one counts. */
export const MEMORY_SETUPS = [
  { size: 1000, parallel: 1 },
  { size: 10_000, parallel: 1 },
  { size: LARGEST, parallel: 1 },
  { size: LARGEST, parallel: 2 },
  { size: LARGEST, parallel: 5 },
  { size: LARGEST, parallel: 10 },
] as const;

/** The highest resident memory of a fresh server, by the size of batches and how many come at a time. */
export async function measureMemory(bench: Bench): Promise<Findings> {
  const figures: Figure[] = [];
  const repeats = bench.options.quick ? 1 : 3;
  const peaks = new Map<number, number>();
  // Ten large batches take longer than all else of a quick run.
  const setups = bench.options.quick ? MEMORY_SETUPS.filter(isQuick) : MEMORY_SETUPS;
  const from = { dns: bench.dns.address, cores: bench.options.cores };
  for (const { size, parallel } of setups) {
    const found: Awaited<ReturnType<typeof peakOf>>[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1)
      found.push(await peakOf(from, { size: bench.items(size), parallel }));
    const peak = median(found.map((one) => one.peak));
    if (size === LARGEST) peaks.set(parallel, peak);
    figures.push({
      name: `memory: ${parallel} × ${size.toLocaleString("en")} addresses at a time`,
      group: "resident memory of a fresh server (p50: before the batches)",
      unit: "MB at most",
      better: "lower",
      ...overRounds(found.map((one) => one.peak)),
      p50: median(found.map((one) => one.base)),
      at: { plot: "memory", size, parallel, base: median(found.map((one) => one.base)) },
    });
  }
  const [one = Number.NaN, ten = Number.NaN] = [peaks.get(1), peaks.get(10)];
  const isKnown = !Number.isNaN(one) && !Number.isNaN(ten);
  return {
    figures,
    targets: [
      judgeTarget({
        what: "memory at ten parallel batches of 100,000",
        against: "one such batch",
        bound: { atMost: 3 },
        measured: isKnown ? ten / one : null,
        note: isKnown
          ? `${ten.toFixed(0)} MB against ${one.toFixed(0)} MB`
          : "only Linux reports it, and no quick run",
      }),
    ],
  };
}

const isQuick = ({ size, parallel }: { readonly size: number; readonly parallel: number }) =>
  size === LARGEST && parallel <= 2;

/** The resident memory of a fresh server in megabytes, before `parallel` batches of one size and at its highest. */
export async function peakOf(
  from: Pick<ServerOptions, "dns" | "cores" | "root">,
  { size, parallel }: { readonly size: number; readonly parallel: number },
): Promise<{ readonly base: number; readonly peak: number }> {
  await using server = await startServerProcess(from);
  // Warms the cache and the code with batches so small that they leave nothing behind.
  await drive({ ...ONE_AFTER_ANOTHER, aims: [server], size: 1000, roundMs: 300 });
  resetPeak(server.pid);
  const base = memoryMb(server.pid)?.now ?? Number.NaN;
  await drive({ kind: "batches", aims: [server], size, parallel, rounds: 1, roundMs: 0, cold: null });
  return { base, peak: memoryMb(server.pid)?.peak ?? Number.NaN };
}
