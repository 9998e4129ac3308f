import { ITEMS, itemBatches } from "../forms/bodies.ts";
import { sendBatch } from "../forms/reader.ts";
import { peakOf } from "../load/memory-scenario.ts";
import { drive } from "../load/processes.ts";
import { type Spent, spending } from "../load/readings.ts";
import type { Bench } from "../load/scenarios.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import type { Readings, Subject } from "./comparison.ts";

/** Where a server is started from, and the DNS server that it asks. */
export type Checkout = { readonly root: string; readonly dns: string };

const CONNECTIONS = [16, 64, 256] as const;
const SIZES = [1000, 10_000, 100_000] as const;
/** In a round: the system counts CPU in hundredths of a second. */
const ITEM_BATCHES = 2;
const STARTS = 7;
const MEMORY_ROUNDS = 3;
const BATCHES_AT_A_TIME = 10;

const CALL_UNITS = { "calls a second": "calls/s", CPU: "µs a call", "CPU of the main thread": "µs a call" };
const ITEM_UNITS = { "items a second": "items/s", CPU: "µs an item", "CPU of the main thread": "µs an item" };

/** What both servers are asked for, all of it known to them. */
export async function serverSubjects({ ms }: Pick<Bench, "ms">): Promise<readonly Subject<BenchServer>[]> {
  return [
    ...CONNECTIONS.map((connections) => ({
      name: `single verify, ${connections} connections`,
      rounds: 5,
      warmups: 1,
      units: CALL_UNITS,
      measure: (server: BenchServer) => single(server, connections, ms(1200)),
    })),
    ...SIZES.map((size) => ({
      name: `batches of ${size.toLocaleString("en")}`,
      rounds: 6,
      warmups: 1,
      units: ITEM_UNITS,
      measure: (server: BenchServer) => batches(server, size, ms(1200)),
    })),
    ...(await batchesOfItems()),
  ];
}

async function single(server: BenchServer, connections: number, roundMs: number): Promise<Readings> {
  const { result, spent } = await spending(server, () =>
    drive({
      kind: "singles",
      aims: [server],
      traffic: { kind: "warm" },
      connections,
      roundMs,
      ratePerSecond: null,
      spin: true,
      rounds: 1,
    }),
  );
  const [round] = result.aims.flat();
  if (round === undefined || round.wrong + round.lost > 0) throw new Error("calls were answered wrongly");
  return { "calls a second": round.perSecond, ...costOf(spent, round.replies) };
}

async function batches(server: BenchServer, size: number, roundMs: number): Promise<Readings> {
  const { result, spent } = await spending(server, () =>
    drive({ kind: "batches", aims: [server], size, parallel: 1, rounds: 1, roundMs, cold: null }),
  );
  const [round] = result.aims.flat();
  const { addressesPerSecond = Number.NaN, batches: sent = 0 } = round ?? {};
  return { "items a second": addressesPerSecond, ...costOf(spent, sent * size) };
}

async function batchesOfItems(): Promise<Subject<BenchServer>[]> {
  const { documents, phones } = await itemBatches();
  const kinds = [
    ["documents", documents],
    ["phone numbers", phones],
  ] as const;
  return kinds.map(([name, { path, body }]) => ({
    name: `batches of 100,000 ${name}`,
    rounds: 2,
    warmups: 1,
    units: ITEM_UNITS,
    measure: async (server) => {
      const batch = { path, body, encoding: "identity", bytesPerMs: Number.POSITIVE_INFINITY } as const;
      const { result: passedMs, spent } = await spending(server, async () => {
        let ms = 0;
        for (let sent = 0; sent < ITEM_BATCHES; sent += 1) ms += (await sendBatch(server, batch)).lastMs;
        return ms;
      });
      const items = ITEMS * ITEM_BATCHES;
      return { "items a second": (items / passedMs) * 1000, ...costOf(spent, items) };
    },
  }));
}

function costOf({ cpuSeconds, mainThreadSeconds }: Spent, items: number): Readings {
  const micros = (seconds: number | null) => ((seconds ?? Number.NaN) * 1e6) / items;
  return { CPU: micros(cpuSeconds), "CPU of the main thread": micros(mainThreadSeconds) };
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

/** The highest resident memory of a fresh server at ten batches of 100,000 at a time. */
export function memoryOf(): Subject<Checkout> {
  const what = "at ten batches of 100,000 at a time";
  return {
    name: "resident memory",
    rounds: MEMORY_ROUNDS,
    warmups: 0,
    units: { [what]: "MB" },
    async measure(checkout) {
      const { peak } = await peakOf(checkout, { size: ITEMS, parallel: BATCHES_AT_A_TIME });
      return { [what]: peak };
    },
  };
}
