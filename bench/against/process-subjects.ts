import type { ColdLookups, ColdLookupsJob } from "../load/cold-lookups-job.ts";
import { MEMORY_SETUPS, peakOf } from "../load/memory-scenario.ts";
import { COLD_NAMES } from "../load/other-scenarios.ts";
import { runFile } from "../load/processes.ts";
import { type BenchServer, type ServerOptions, startServerProcess } from "../load/server-process.ts";
import { median } from "../result.ts";
import type { Subject } from "./comparison.ts";

/** Where processes are started from, and the DNS server that they ask. */
export type Checkout = { readonly root: string; readonly dns: string };

const STARTS = 21;
const MEMORY_ROUNDS = 5;
const LOOKUP_PROCESSES = 12;
const LOOKUP_ROUNDS = 7;
/** Of each result of the stub: about three quarters of a real one, and the same in both checkouts. */
const RESULT_BYTES = 255;

/** Starts a server whose workers verify nothing, and write results of a set size. */
export function startStubServer(checkout: Checkout): Promise<BenchServer> {
  const environment = { BENCH_RESULT_BYTES: `${RESULT_BYTES}` };
  const options: ServerOptions = { ...checkout, file: "bench/load/stub-server.ts", environment };
  return startServerProcess(options);
}

/** From the spawn to the first answered call, of servers that were never started before. */
export function startsOf(): Subject<Checkout> {
  return {
    name: "start",
    rounds: STARTS,
    warmups: 0,
    units: { "first call answered after": "ms" },
    async measure(checkout) {
      await using server = await startServerProcess(checkout);
      return { "first call answered after": server.startMs };
    },
  };
}

/** Names that no cache knows, through resolver and cache: in a process of its own the middle one of some rounds. */
export function coldLookupsOf(): Subject<Checkout> {
  return {
    name: "cold MX look-ups",
    rounds: LOOKUP_PROCESSES,
    warmups: 0,
    units: { "look-ups a second": "look-ups/s" },
    async measure({ root, dns }) {
      const job: ColdLookupsJob = {
        server: dns,
        names: COLD_NAMES,
        rounds: LOOKUP_ROUNDS,
        cAresInFlight: [],
      };
      const { ours } = (await runFile("bench/load/cold-lookups.ts", job, root)) as ColdLookups;
      if (ours.some(({ lost }) => lost > 0)) throw new Error("look-ups were lost");
      return { "look-ups a second": median(ours.map(({ perSecond }) => perSecond)) };
    },
  };
}

/** The highest resident memory of a fresh server, by the size of batches and how many come at a time. */
export function memoryOf(): readonly Subject<Checkout>[] {
  return MEMORY_SETUPS.map(({ size, parallel }) => {
    const what = `at ${parallel} × ${size.toLocaleString("en")} addresses at a time`;
    return {
      name: "resident memory",
      rounds: MEMORY_ROUNDS,
      warmups: 0,
      units: { [what]: "MB" },
      async measure(checkout) {
        const { peak } = await peakOf(checkout, { size, parallel });
        return { [what]: peak };
      },
    };
  });
}
