import { availableParallelism } from "node:os";
import { upToAll } from "../machine.ts";
import { type Figure, judgeTarget, median, overRounds } from "../result.ts";
import type { BatchesJob, BatchesRound, SinglesRound } from "./jobs.ts";
import { memoryMb, resetPeak } from "./proc.ts";
import { drive } from "./processes.ts";
import { spending } from "./readings.ts";
import { type Bench, type Findings, medianOf, medianRatio } from "./scenarios.ts";
import { type BenchServer, type ServerOptions, startServerProcess } from "./server-process.ts";
import { costFigures } from "./single-figures.ts";

const SIZES = [100, 1000, 10_000, 100_000] as const;
const LARGEST = 100_000;
/** Single checks a second while batches run: enough for a p99, too few to be the load themselves. */
const BYSTANDERS_PER_SECOND = 500;
/** Fresh servers for each memory figure, of which the middle one counts. */
const MEMORY_SETUPS = [
  { size: 1000, parallel: 1 },
  { size: 10_000, parallel: 1 },
  { size: LARGEST, parallel: 1 },
  { size: LARGEST, parallel: 2 },
  { size: LARGEST, parallel: 5 },
  { size: LARGEST, parallel: 10 },
] as const;

const ONE_AFTER_ANOTHER = { kind: "batches", parallel: 1, rounds: 1, cold: null } as const;
/** Of every figure of a whole run, so that its spread can be told. */
const ROUNDS = 3;

/** Batches of every size one after the other, with domains that are known, and of two sizes with new ones. */
export async function measureBatchSizes({ server, ms, rounds }: Bench): Promise<Findings> {
  const figures: Figure[] = [];
  const ofEach = rounds(ROUNDS);
  const measure = async (name: string, job: BatchesJob) => {
    const { result, spent } = await spending(server, () => drive(job));
    const [timed = []] = result.aims;
    const addresses = timed.reduce((total, { batches }) => total + batches * job.size, 0);
    figures.push(batchFigure(name, timed, { plot: "size", size: job.size, cold: job.cold === null ? 0 : 1 }));
    figures.push(...costFigures(name, spent, addresses));
  };
  for (const size of SIZES) {
    const job = { ...ONE_AFTER_ANOTHER, aims: [server], size, rounds: ofEach, roundMs: ms(3000 / ROUNDS) };
    await measure(`batches of ${size.toLocaleString("en")}, warm`, job);
  }
  for (const size of [1000, LARGEST]) {
    const cold = `size${size}`;
    const job = {
      ...ONE_AFTER_ANOTHER,
      aims: [server],
      size,
      rounds: ofEach,
      roundMs: ms(2000 / ROUNDS),
      cold,
    };
    await measure(`batches of ${size.toLocaleString("en")}, cold`, job);
  }
  return { figures, targets: [] };
}

/**
 * Batches of 100,000 by turns at a server and at one whose workers verify nothing and write as much. Both were just
 * started: the one that the other scenarios share has a hundred thousand domains in its memory, and would be
 * compared with one that has none.
 */
export async function measureCeiling({ dns, ms, rounds, options }: Bench): Promise<Findings> {
  const { cores } = options;
  await using server = await startServerProcess({ dns: dns.address, cores });
  const probe = await drive({ ...ONE_AFTER_ANOTHER, aims: [server], size: LARGEST, roundMs: 0 });
  const bytes = medianOf(probe.aims[0], ({ bytesPerBatch }) => bytesPerBatch);
  // Each result is followed by a comma.
  const environment = { BENCH_RESULT_BYTES: `${Math.round(bytes / LARGEST) - 1}` };
  await using stub = await startServerProcess({
    dns: dns.address,
    cores,
    file: "bench/load/stub-server.ts",
    environment,
  });
  const job = { ...ONE_AFTER_ANOTHER, size: LARGEST, aims: [server, stub], roundMs: ms(1000) };
  await drive({ ...job, roundMs: ms(2000) });
  const { aims } = await drive({ ...job, rounds: rounds(8) });
  const [ours = [], ceiling = []] = aims;
  const stubBytes = medianOf(ceiling, ({ bytesPerBatch }) => bytesPerBatch);
  if (Math.abs(stubBytes / bytes - 1) > 0.02)
    throw new Error(`The stub writes ${stubBytes} bytes, not ${bytes}`);
  const perSecond = (found: readonly BatchesRound[]) => found.map((round) => round.addressesPerSecond);
  const [value, stubValue] = [median(perSecond(ours)), median(perSecond(ceiling))];
  return {
    figures: [
      batchFigure("batches of 100,000, warm, beside the ceiling", ours),
      batchFigure("batches of 100,000 with a stub verifier: the ceiling", ceiling),
    ],
    targets: [
      judgeTarget({
        what: "batch of 100,000, warm cache, over HTTP, metered",
        against: "the same pipeline with a stub verifier writing results of the same size",
        bound: { atLeast: 0.75 },
        measured: medianRatio(perSecond(ours), perSecond(ceiling)),
        note: `${Math.round(value).toLocaleString("en")} against ${Math.round(stubValue).toLocaleString("en")} a second, both by servers just started`,
      }),
    ],
  };
}

/** Batches of 100,000 at servers on one core, two, four and so on up to all that they may have, by turns. */
export async function measureCores({ dns, ms, rounds, options }: Bench): Promise<Findings> {
  await using stack = new AsyncDisposableStack();
  const counts = upToAll(options.cores ?? availableParallelism());
  const servers: BenchServer[] = [];
  for (const cores of counts) {
    servers.push(stack.use(await startServerProcess({ dns: dns.address, cores })));
  }
  const job = { ...ONE_AFTER_ANOTHER, size: LARGEST };
  await drive({ ...job, aims: servers, roundMs: ms(1500) });
  const found = servers.map(() => ({
    rounds: [] as BatchesRound[],
    cpuUs: [] as number[],
    mainUs: [] as number[],
  }));
  for (let round = 0; round < rounds(ROUNDS); round += 1) {
    for (const [at, server] of servers.entries()) {
      const { result, spent } = await spending(server, () =>
        drive({ ...job, aims: [server], roundMs: ms(1000) }),
      );
      const driven = result.aims.flat();
      const addresses = driven.reduce((total, { batches }) => total + batches * LARGEST, 0);
      found[at]?.rounds.push(...driven);
      found[at]?.cpuUs.push(((spent.cpuSeconds ?? Number.NaN) * 1e6) / addresses);
      found[at]?.mainUs.push(((spent.mainThreadSeconds ?? Number.NaN) * 1e6) / addresses);
    }
  }
  const figures = found.flatMap(({ rounds: timed, cpuUs, mainUs }, at): Figure[] => {
    const cores = counts[at] ?? 0;
    const name = `batches of 100,000, warm, ${cores} ${cores === 1 ? "core" : "cores"}`;
    const cost = { group: "cost", unit: "µs an address", better: "lower", at: { cores } } as const;
    return [
      batchFigure(name, timed, { plot: "cores", cores }),
      { ...cost, name: `${name}: CPU of an address, all threads`, ...overRounds(cpuUs) },
      { ...cost, name: `${name}: CPU of an address, main thread`, ...overRounds(mainUs) },
    ];
  });
  const all = found.at(-1);
  const target = (what: string, values: readonly number[], atMost: number) => {
    const { value, range } = overRounds(values);
    return judgeTarget({
      what,
      against: "",
      bound: { atMost },
      unit: "µs",
      measured: Number.isNaN(value) ? null : value,
      note: `${range.least.toFixed(2)} to ${range.most.toFixed(2)} in ${range.rounds} rounds`,
    });
  };
  return {
    figures,
    targets: [
      target("CPU of an address in a warm batch of 100,000, all threads together", all?.cpuUs ?? [], 2),
      target("CPU of an address in a warm batch of 100,000, main thread", all?.mainUs ?? [], 0.3),
    ],
  };
}

/** Single checks on a schedule, by turns alone and beside batches of 100,000 that come back to back. */
export async function measureBystanders({ server, ms, rounds }: Bench): Promise<Findings> {
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
  const alone: SinglesRound[] = [];
  const beside: SinglesRound[] = [];
  for (let round = 0; round < rounds(3); round += 1) {
    alone.push(...(await drive(bystanders)).aims.flat());
    // The batches begin before the first of the checks and go on until after the last one.
    const batches = drive({ ...ONE_AFTER_ANOTHER, aims: [server], size: LARGEST, roundMs: roundMs + 1000 });
    await Bun.sleep(500);
    beside.push(...(await drive(bystanders)).aims.flat());
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
    for (let repeat = 0; repeat < repeats; repeat += 1) found.push(await peakOf(from, { size, parallel }));
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

/** The resident memory of a fresh server in megabytes, before batches of one size come so many at a time and at its highest. */
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

function batchFigure(name: string, rounds: readonly BatchesRound[], at?: NonNullable<Figure["at"]>): Figure {
  return {
    name,
    group: "batches over HTTP (p50, p99: ms a batch)",
    unit: "addresses/s",
    better: "higher",
    ...overRounds(rounds.map((round) => round.addressesPerSecond)),
    p50: medianOf(rounds, ({ latency }) => latency.p50),
    p99: medianOf(rounds, ({ latency }) => latency.p99),
    ...(at === undefined ? {} : { at }),
  };
}
