import { availableParallelism } from "node:os";
import { upToAll } from "../machine.ts";
import { type Figure, judgeTarget, median, overRounds } from "../result.ts";
import type { BatchesJob, BatchesRound } from "./jobs.ts";
import { drive } from "./processes.ts";
import { spending } from "./readings.ts";
import { type Bench, type Findings, medianOf, medianRatio } from "./scenarios.ts";
import { type BenchServer, startServerProcess } from "./server-process.ts";
import { costFigures } from "./single-figures.ts";

const SIZES = [100, 1000, 10_000, 100_000] as const;
export const LARGEST = 100_000;
export const ONE_AFTER_ANOTHER = { kind: "batches", parallel: 1, rounds: 1, cold: null } as const;
/** Of every figure of a whole run, so that its spread can be told. */
const ROUNDS = 3;

/** Returns how many items a batch of a size has in this run: only the largest take long. */
export function sentOf(items: Bench["items"], size: number): number {
  return size === LARGEST ? items(size) : size;
}

/** Batches of every size one after the other, with domains that are known, and of two sizes with new ones. */
export async function measureBatchSizes({ server, ms, rounds, items }: Bench): Promise<Findings> {
  const figures: Figure[] = [];
  const ofEach = rounds(ROUNDS);
  const measure = async (name: string, job: BatchesJob) => {
    const size = sentOf(items, job.size);
    const { result, spent } = await spending(server, () => drive({ ...job, size }));
    const [timed = []] = result.aims;
    const addresses = timed.reduce((total, { batches }) => total + batches * size, 0);
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
export async function measureCeiling({ dns, ms, rounds, items, options }: Bench): Promise<Findings> {
  const size = items(LARGEST);
  const { cores } = options;
  await using server = await startServerProcess({ dns: dns.address, cores });
  const probe = await drive({ ...ONE_AFTER_ANOTHER, aims: [server], size, roundMs: 0 });
  const bytes = medianOf(probe.aims[0], ({ bytesPerBatch }) => bytesPerBatch);
  // Each result is followed by a comma.
  const environment = { BENCH_RESULT_BYTES: `${Math.round(bytes / size) - 1}` };
  await using stub = await startServerProcess({
    dns: dns.address,
    cores,
    file: "bench/load/stub-server.ts",
    environment,
  });
  const job = { ...ONE_AFTER_ANOTHER, size, aims: [server, stub], roundMs: ms(1000) };
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
export async function measureCores({ dns, ms, rounds, items, options }: Bench): Promise<Findings> {
  const size = items(LARGEST);
  await using stack = new AsyncDisposableStack();
  const counts = upToAll(options.cores ?? availableParallelism());
  const servers: BenchServer[] = [];
  for (const cores of counts) {
    servers.push(stack.use(await startServerProcess({ dns: dns.address, cores })));
  }
  const job = { ...ONE_AFTER_ANOTHER, size };
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
      const addresses = driven.reduce((total, { batches }) => total + batches * size, 0);
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
