import { ITEMS, itemBatches } from "../forms/bodies.ts";
import { sendBatch } from "../forms/reader.ts";
import { LARGEST, ONE_AFTER_ANOTHER, sentOf } from "../load/batch-scenarios.ts";
import type { Driver } from "../load/driver-process.ts";
import type { Bench } from "../load/scenarios.ts";
import type { BenchServer } from "../load/server-process.ts";
import type { Readings, Subject } from "./comparison.ts";
import { costing, createRunNames, ITEM_UNITS, LAG_UNITS } from "./server-cost.ts";

type ServerSubject = Subject<BenchServer>;

const WARM_SIZES = [100, 1000, 10_000, LARGEST] as const;
const COLD_SIZES = [1000, LARGEST] as const;
const ROUND_MS = 400;
const ROUNDS = 12;
const COLD_ROUNDS = 8;

/** Batches of addresses one after the other, all of whose domains both servers know. */
export function warmBatchSubjects(
  { ms, items }: Pick<Bench, "ms" | "items">,
  driver: Driver,
): readonly ServerSubject[] {
  return WARM_SIZES.map((size) => ({
    name: `batches of ${size.toLocaleString("en")}`,
    rounds: ROUNDS,
    warmups: 2,
    units: ITEM_UNITS,
    unitsBeside: LAG_UNITS,
    measure: (server) => measureBatches(driver, server, sentOf(items, size), ms(ROUND_MS), null),
  }));
}

/** The same of domains that no server has looked up. */
export function coldBatchSubjects(
  { ms, items }: Pick<Bench, "ms" | "items">,
  driver: Driver,
): readonly ServerSubject[] {
  return COLD_SIZES.map((size) => {
    const run = createRunNames(`size${size}-`);
    return {
      name: `batches of ${size.toLocaleString("en")}, cold`,
      rounds: COLD_ROUNDS,
      warmups: 2,
      units: ITEM_UNITS,
      unitsBeside: LAG_UNITS,
      measure: (server) => measureBatches(driver, server, sentOf(items, size), ms(ROUND_MS), run()),
    };
  });
}

/** The largest batches at servers of another kind, such as those whose workers verify nothing. */
export function largestBatchSubjects(
  { ms, items }: Pick<Bench, "ms" | "items">,
  driver: Driver,
  where: string,
): readonly ServerSubject[] {
  return [
    {
      name: `batches of 100,000 ${where}`,
      rounds: ROUNDS,
      warmups: 2,
      units: ITEM_UNITS,
      measure: (server) => measureBatches(driver, server, items(LARGEST), ms(ROUND_MS), null),
    },
  ];
}

async function measureBatches(
  driver: Driver,
  server: BenchServer,
  size: number,
  roundMs: number,
  cold: string | null,
): Promise<Readings> {
  const { result, costOf } = await costing(server, () =>
    driver.batches({ ...ONE_AFTER_ANOTHER, aims: [server], size, roundMs, cold }),
  );
  const [round] = result.aims.flat();
  const { addressesPerSecond = Number.NaN, batches = Number.NaN } = round ?? {};
  return { "items a second": addressesPerSecond, ...costOf(batches * size) };
}

/** Batches of the largest size of documents and of phone numbers. */
export async function itemBatchSubjects({ items }: Pick<Bench, "items">): Promise<readonly ServerSubject[]> {
  const count = items(ITEMS);
  const { documents, phones } = await itemBatches(count);
  const kinds = [
    ["documents", documents],
    ["phone numbers", phones],
  ] as const;
  return kinds.map(([name, { path, body }]) => ({
    name: `batches of 100,000 ${name}`,
    rounds: ROUNDS,
    warmups: 2,
    units: ITEM_UNITS,
    measure: async (server) => {
      const batch = { path, body, encoding: "identity", bytesPerMs: Number.POSITIVE_INFINITY } as const;
      const { result, costOf } = await costing(server, () => sendBatch(server, batch));
      return { "items a second": (count / result.lastMs) * 1000, ...costOf(count) };
    },
  }));
}
