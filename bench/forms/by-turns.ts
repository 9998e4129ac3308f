import type { BenchServer } from "../load/server-process.ts";
import { type Figure, judgeTarget, overRounds, type TargetOutcome } from "../result.ts";
import { type Batch, sendBatch } from "./reader.ts";

export const GROUP = "batches over HTTP, of 100,000, by form and kind";
/** The first batches of a server run code that is not yet compiled: a third as many rounds are not counted. */
const WARMUP_SHARE = 1 / 3;

type Contender = { readonly name: string; readonly measure: () => number | Promise<number> };

/** Measures all by turns. Returns the values of each, in the order of the contenders. */
export async function byTurns(contenders: readonly Contender[], rounds: number): Promise<number[][]> {
  const found: number[][] = contenders.map(() => []);
  for (let round = -Math.round(rounds * WARMUP_SHARE); round < rounds; round += 1) {
    for (const [at, { measure }] of contenders.entries()) {
      const value = await measure();
      if (round >= 0) found[at]?.push(value);
    }
  }
  return found;
}

export function batchOf(
  server: BenchServer,
  { items, ...batch }: Pick<Batch, "path" | "body"> & { readonly items: number },
): () => Promise<number> {
  const whole = { ...batch, encoding: "identity", bytesPerMs: Number.POSITIVE_INFINITY } as const;
  return async () => (items / (await sendBatch(server, whole)).lastMs) * 1000;
}

export function rateFigure(name: string, rates: readonly number[]): Figure {
  return {
    name: `batches of 100,000: ${name}`,
    group: GROUP,
    unit: "items/s",
    better: "higher",
    ...overRounds(rates),
  };
}

export function ratioTarget(
  what: string,
  against: string,
  bound: TargetOutcome["bound"],
  values: readonly number[],
  others: readonly number[],
): TargetOutcome {
  const { value, range } = overRounds(values.map((one, at) => one / (others[at] ?? Number.NaN)));
  const note = `${range.least.toFixed(2)} to ${range.most.toFixed(2)} in ${range.rounds} rounds`;
  return judgeTarget({ what, against, bound, measured: value, note });
}
