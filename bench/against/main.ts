import { join, resolve } from "node:path";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import { scaled } from "../load/scenarios.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import { runSuite } from "../suite.ts";
import {
  ceilingSubjects,
  coldBatchSubjects,
  itemBatchSubjects,
  warmBatchSubjects,
} from "./batch-subjects.ts";
import { coldCallSubjects, warmCallSubjects } from "./call-subjects.ts";
import { addRounds, type Compared, findingsOf, type Pair, type Subject, toBeCompared } from "./comparison.ts";
import { functionSubjects, startFunctions } from "./function-process.ts";
import { type Checkout, coldLookupsOf, memoryOf, startStubServer, startsOf } from "./process-subjects.ts";

// This checkout beside another one, all figures by turns: `bun run bench:against FOLDER [--quick] [--json FILE]`.

/** Pairs of servers. */
const SETUPS = 3;
/** Of processes with functions: what the compiler makes of the same code differs by up to a tenth from one to the next. */
const FUNCTION_SETUPS = 14;
const ROOT = resolve(import.meta.dir, "../..");

await runSuite("against", async ({ words, say, scale, quick }) => {
  const [folder] = words;
  if (folder === undefined) throw new Error("Name the folder of another checkout, its packages installed.");
  const times = scaled(scale);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  const checkouts: Pair<Checkout> = [
    { root: ROOT, dns: dns.address },
    { root: resolve(folder), dns: dns.address },
  ];

  async function measure<Of>(pair: Pair<Of>, compared: readonly Compared<Of>[]): Promise<void> {
    for (const { subject, found } of compared) {
      say(`measuring ${subject.name}: ${Object.keys(subject.units).join(", ")}`);
      await addRounds(found, subject, pair, times.rounds(subject.rounds));
    }
  }

  /** Measures with several pairs of processes, one pair after the other. */
  async function measurePairs<Of extends AsyncDisposable>(
    start: (checkout: Checkout) => Promise<Of>,
    subjectsOf: (pair: Pair<Of>) => Promise<readonly Subject<Of>[]>,
    setups: number,
  ): Promise<readonly Compared<Of>[]> {
    let compared: readonly Compared<Of>[] | null = null;
    for (let setup = 0; setup < (quick ? 1 : setups); setup += 1) {
      await using here = await start(checkouts[0]);
      await using there = await start(checkouts[1]);
      compared ??= (await subjectsOf([here, there])).map(toBeCompared);
      await measure([here, there], compared);
    }
    return compared ?? [];
  }

  const calls = await measurePairs(
    startProvedServer,
    async () => [
      ...warmCallSubjects(times),
      ...warmBatchSubjects(times),
      ...(await itemBatchSubjects()),
      ...coldCallSubjects(times),
      ...coldBatchSubjects(times),
    ],
    SETUPS,
  );
  const ceiling = await measurePairs(startStubServer, async () => ceilingSubjects(times), SETUPS);
  // Both have the input of the other checkout, which may know no other.
  const vectors = join(checkouts[1].root, "test/vectors");
  const functions = await measurePairs(
    ({ root }) => startFunctions({ root, vectors }),
    (pair) => functionSubjects(pair, scale),
    FUNCTION_SETUPS,
  );
  const processes = (quick ? [startsOf()] : [startsOf(), coldLookupsOf(), memoryOf()]).map(toBeCompared);
  await measure(checkouts, processes);
  const findings = [calls, ceiling, functions, processes].flatMap((compared: readonly Compared<never>[]) =>
    compared.map(({ subject, found }) => findingsOf(subject, found)),
  );
  return {
    versions: { dns: dns.software },
    figures: findings.flatMap(({ figures }) => figures),
    targets: findings.flatMap(({ targets }) => targets),
  };
});

async function startProvedServer(checkout: Checkout): Promise<BenchServer> {
  const server = await startServerProcess(checkout);
  await proveServerRight(server);
  return server;
}
