import { DOCUMENT_TYPES } from "../../src/contract/words.ts";
import { documentBody, phoneBody } from "../forms/bodies.ts";
import { sendBatch } from "../forms/reader.ts";
import { documentCorpus, plainPhoneCorpus } from "../input.ts";
import { CORPUS } from "../load/jobs.ts";
import { cpuSeconds, memoryMb } from "../load/proc.ts";
import { drive } from "../load/processes.ts";
import type { Bench } from "../load/scenarios.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import type { Readings, Subject } from "./comparison.ts";

/** Where a server is started from, and the DNS server that it asks. */
export type Checkout = { readonly root: string; readonly dns: string };

const CONNECTIONS = [16, 64, 256] as const;
const SIZES = [1000, 10_000, 100_000] as const;
const ITEMS = 100_000;
/** In a round: the system counts CPU in hundredths of a second. */
const ITEM_BATCHES = 2;
const STARTS = 7;
const MEMORY_ROUNDS = 3;
const BATCHES_AT_A_TIME = 10;

const CALL_UNITS = { "calls a second": "calls/s", CPU: "µs a call", "CPU of the main thread": "µs a call" };
const ITEM_UNITS = { "items a second": "items/s", CPU: "µs an item", "CPU of the main thread": "µs an item" };

/** What both servers are asked for, all of it known to them. */
export async function subjects({ ms }: Pick<Bench, "ms">): Promise<readonly Subject<BenchServer>[]> {
  return [
    ...CONNECTIONS.map((connections) => ({
      ...{ name: `single verify, ${connections} connections`, rounds: 3, warmups: 1, units: CALL_UNITS },
      measure: (server: BenchServer) => single(server, connections, ms(1200)),
    })),
    ...SIZES.map((size) => ({
      ...{ name: `batches of ${size.toLocaleString("en")}`, rounds: 2, warmups: 1, units: ITEM_UNITS },
      measure: (server: BenchServer) => batches(server, size, ms(1200)),
    })),
    ...(await itemBatches()),
  ];
}

async function single(server: BenchServer, connections: number, roundMs: number): Promise<Readings> {
  const before = cpuSeconds(server.pid);
  const { aims } = await drive({
    kind: "singles",
    ...{ aims: [server], traffic: { kind: "warm" }, connections, roundMs },
    ...{ ratePerSecond: null, spin: true, rounds: 1 },
  });
  const [round] = aims.flat();
  if (round === undefined || round.wrong + round.lost > 0) throw new Error("calls were answered wrongly");
  return { "calls a second": round.perSecond, ...costOf(server, before, round.replies) };
}

async function batches(server: BenchServer, size: number, roundMs: number): Promise<Readings> {
  const before = cpuSeconds(server.pid);
  const { aims } = await drive({
    kind: "batches",
    ...{ aims: [server], size, parallel: 1, rounds: 1, roundMs, cold: null },
  });
  const [round] = aims.flat();
  const { addressesPerSecond = Number.NaN, batches: sent = 0 } = round ?? {};
  return { "items a second": addressesPerSecond, ...costOf(server, before, sent * size) };
}

async function itemBatches(): Promise<Subject<BenchServer>[]> {
  const { seed } = CORPUS;
  const documents = await documentCorpus({ seed, countPerType: ITEMS / DOCUMENT_TYPES.length });
  const phones = await plainPhoneCorpus({ seed, count: 4000 });
  const international = phones.filter(({ country }) => country === null);
  const numbers = Array.from({ length: ITEMS }, (_, at) => international[at % international.length]);
  const kinds = [
    ["documents", "/v1/identity/batch", documentBody(documents.slice(0, ITEMS))],
    ["phone numbers", "/v1/phone/batch", phoneBody(numbers.filter((number) => number !== undefined))],
  ] as const;
  return kinds.map(([name, path, body]) => ({
    ...{ name: `batches of 100,000 ${name}`, rounds: 2, warmups: 1, units: ITEM_UNITS },
    measure: async (server) => {
      const before = cpuSeconds(server.pid);
      const batch = { path, body, encoding: "identity", bytesPerMs: Number.POSITIVE_INFINITY } as const;
      let passedMs = 0;
      for (let sent = 0; sent < ITEM_BATCHES; sent += 1) passedMs += (await sendBatch(server, batch)).lastMs;
      const items = ITEMS * ITEM_BATCHES;
      return { "items a second": (items / passedMs) * 1000, ...costOf(server, before, items) };
    },
  }));
}

function costOf(server: BenchServer, before: ReturnType<typeof cpuSeconds>, items: number): Readings {
  const after = cpuSeconds(server.pid);
  const micros = (of: "all" | "mainThread") =>
    (((after?.[of] ?? Number.NaN) - (before?.[of] ?? Number.NaN)) * 1e6) / items;
  return { CPU: micros("all"), "CPU of the main thread": micros("mainThread") };
}

/** From the spawn to the first answered call, of servers that were never started before. */
export function startsOf(): Subject<Checkout> {
  return {
    ...{ name: "start", rounds: STARTS, warmups: 0, units: { "first call answered after": "ms" } },
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
    ...{ name: "resident memory", rounds: MEMORY_ROUNDS, warmups: 0, units: { [what]: "MB" } },
    async measure(checkout) {
      await using server = await startServerProcess(checkout);
      const batch = { size: ITEMS, rounds: 1, roundMs: 0, cold: null };
      await drive({ kind: "batches", aims: [server], parallel: BATCHES_AT_A_TIME, ...batch });
      return { [what]: memoryMb(server.pid)?.peak ?? Number.NaN };
    },
  };
}
