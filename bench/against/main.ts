import { join, resolve } from "node:path";
import { addressCorpus } from "../input.ts";
import { LARGEST, ONE_AFTER_ANOTHER } from "../load/batch-scenarios.ts";
import { startDns } from "../load/dns.ts";
import { startDriver } from "../load/driver-process.ts";
import { FLAT_OUT } from "../load/flat-out-scenario.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import { scaled } from "../load/scenarios.ts";
import { type BenchServer, type ServerOptions, startServerProcess } from "../load/server-process.ts";
import { SHARES } from "../load/single-scenarios.ts";
import { runSuite, shareOfTenth } from "../suite.ts";
import {
  coldBatchSubjects,
  itemBatchSubjects,
  largestBatchSubjects,
  warmBatchSubjects,
} from "./batch-subjects.ts";
import { aloneSubject, coldCallSubjects, warmCallSubjects } from "./call-subjects.ts";
import {
  addRounds,
  type Compared,
  findingsOf,
  isPrecise,
  type Pair,
  progressOf,
  type Subject,
  toBeCompared,
} from "./comparison.ts";
import { functionSubjects, startFunctions } from "./function-process.ts";
import { flatOutRates, offeredSubjects } from "./offered-subjects.ts";
import { type Checkout, coldLookupsOf, memoryOf, startStubServer, startsOf } from "./process-subjects.ts";

// This checkout beside another one, by turns all figures, or those whose names have one of the words in them:
// `bun run bench:against FOLDER [WORDS …] [--quick] [--json FILE]`.

/** Pairs of processes: what the compiler makes of the same code differs by up to a tenth from one to the next. */
const SETUPS = { min: 4, max: 8 } as const;
/** Of a p99: it lies further apart from one pair to the next than all else. */
const ALONE_SETUPS = { min: 8, max: 24 } as const;
const FUNCTION_SETUPS = { min: 14, max: 30 } as const;
/** Of single checks, and of batches: code that is not yet compiled runs at a third of its speed. */
const WARMUP_MS = 2000;
const ROOT = resolve(import.meta.dir, "../..");

await runSuite("against", async ({ words, say, scale, quick }) => {
  const [folder, ...asked] = words;
  if (folder === undefined) throw new Error("Name the folder of another checkout, its packages installed.");
  const times = scaled(scale);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  const checkouts: Pair<Checkout> = [
    { root: ROOT, dns: dns.address },
    { root: resolve(folder), dns: dns.address },
  ];

  const isAsked = ({ name, units }: Subject<never>): boolean => {
    const names = [name, ...Object.keys(units)].join(": ");
    return asked.length === 0 || asked.some((word) => names.includes(word));
  };

  async function measure<Of>(pair: Pair<Of>, compared: readonly Compared<Of>[]): Promise<void> {
    for (const one of compared) {
      const { rounds, warmups } = one.subject;
      await addRounds(one, pair, {
        rounds: times.rounds(rounds),
        warmups: quick ? Math.min(Math.round(shareOfTenth(scale)), warmups) : warmups,
      });
      for (const known of progressOf(one)) say(`${one.subject.name}: ${known}`);
    }
  }

  /**
   * Measures with several pairs of processes, one pair after the other: with the fewest all, with further ones, up to the
   * most, what is not yet precise.
   */
  async function measurePairs<Of extends AsyncDisposable>(
    start: (checkout: Checkout) => Promise<Of>,
    subjectsOf: (pair: Pair<Of>) => Promise<readonly Subject<Of>[]>,
    setups: { readonly min: number; readonly max: number },
  ): Promise<readonly Compared<Of>[]> {
    let all: readonly Compared<Of>[] | null = null;
    for (let setup = 0; setup < (quick ? 1 : setups.max); setup += 1) {
      const left = setup < setups.min ? all : all?.filter((compared) => !isPrecise(compared));
      if (left?.length === 0) break;
      await using here = await start(checkouts[0]);
      await using there = await start(checkouts[1]);
      all ??= (await subjectsOf([here, there])).filter(isAsked).map(toBeCompared);
      await measure([here, there], left ?? all);
    }
    return all ?? [];
  }

  await using driver = await startDriver();
  await using second = await startDriver();
  const drivers = { driver, second };
  async function startWarmServer(options: ServerOptions): Promise<BenchServer> {
    const server = await startServerProcess(options);
    await proveServerRight(server);
    await driver.singles({ ...FLAT_OUT, aims: [server], roundMs: times.ms(WARMUP_MS) });
    const batches = {
      ...ONE_AFTER_ANOTHER,
      aims: [server],
      size: times.items(LARGEST),
      roundMs: times.ms(WARMUP_MS),
    };
    await driver.batches(batches);
    return server;
  }

  const calls = await measurePairs(
    startWarmServer,
    async ([, there]) => [
      ...warmCallSubjects(times, drivers),
      ...offeredSubjects(times, driver, await flatOutRates(times, driver, there), quick ? [0.5] : SHARES),
      ...warmBatchSubjects(times, driver),
      ...(await itemBatchSubjects(times)),
      ...coldCallSubjects(times, drivers),
      ...coldBatchSubjects(times, driver),
    ],
    SETUPS,
  );
  const alone = await measurePairs(startWarmServer, async () => [aloneSubject(times, driver)], ALONE_SETUPS);
  const ceiling = await measurePairs(
    startStubServer,
    async () => largestBatchSubjects(times, driver, "with a stub verifier"),
    SETUPS,
  );
  const cores = quick
    ? []
    : await measurePairs(
        (checkout) => startWarmServer({ ...checkout, cores: 1 }),
        async () => largestBatchSubjects(times, driver, "on 1 core"),
        SETUPS,
      );
  // Both have the input of the other checkout, which may know no other.
  const vectors = join(checkouts[1].root, "test/vectors");
  const functions = await measurePairs(
    ({ root }) => startFunctions({ root, vectors, scale }),
    async (pair) => functionSubjects(pair),
    FUNCTION_SETUPS,
  );
  const processes = (quick ? [startsOf()] : [startsOf(), coldLookupsOf(), ...memoryOf()])
    .filter(isAsked)
    .map(toBeCompared);
  await measure(checkouts, processes);
  const findings = [calls, alone, ceiling, cores, functions, processes].flatMap(
    (compared: readonly Compared<never>[]) => compared.map(findingsOf),
  );
  return {
    versions: { dns: dns.software },
    figures: findings.flatMap(({ figures }) => figures),
    targets: findings.flatMap(({ targets }) => targets),
  };
});
