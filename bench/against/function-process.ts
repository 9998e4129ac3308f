import { join } from "node:path";
import { startAsked } from "../load/asked-process.ts";
import type { Pair, Readings, Subject } from "./comparison.ts";

/** A process with all that `bench` measures in one checkout. */
export type FunctionProcess = AsyncDisposable & {
  readonly names: readonly string[];
  /** Measures one function, or with null the pipeline. Returns what each does in a second. */
  readonly measure: (name: string | null, scale: number) => Promise<Readings>;
};

export type RatesAsked = { readonly name: string | null; readonly scale: number };
/** The process sends its names once all functions were proved right, and rates each time it is asked. */
export type FunctionsMessage = { readonly names?: readonly string[]; readonly rates?: Readings };

const ROUNDS = 24;
const WARMUPS = 12;
/** Each of as many rounds as in `bench`. */
const PIPELINE_ROUNDS = 1;

export async function startFunctions({
  root,
  vectors,
}: {
  readonly root: string;
  /** The folder of the test vectors that are its input. */
  readonly vectors: string;
}): Promise<FunctionProcess> {
  const child = await startAsked(join(import.meta.dir, "functions.ts"), { words: [root, vectors], root });
  const { names = [] } = child.first as FunctionsMessage;
  return {
    names,
    async measure(name, scale) {
      const { rates = {} } = (await child.ask({ name, scale } satisfies RatesAsked)) as FunctionsMessage;
      return rates;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** What `bench` measures under one name in both: each function, and the ways of a batch through the threads. */
export async function functionSubjects(
  [here, there]: Pair<FunctionProcess>,
  scale: number,
): Promise<readonly Subject<FunctionProcess>[]> {
  const first = new Map([
    [here, await here.measure(null, scale)],
    [there, await there.measure(null, scale)],
  ]);
  const ways = [...first.values()].map((rates) => Object.keys(rates));
  // A short run has no time to measure again what told the names.
  const measurePipeline = async (one: FunctionProcess) =>
    (scale < 1 ? first.get(one) : undefined) ?? (await one.measure(null, scale));
  return [
    ...commonTo(here.names, there.names).map((name) => ({
      name: "in process",
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: { [name]: "calls/s" },
      measure: (one: FunctionProcess) => one.measure(name, scale),
    })),
    {
      name: "in process",
      rounds: PIPELINE_ROUNDS,
      warmups: 0,
      units: Object.fromEntries(commonTo(...ways).map((way) => [way, "addresses/s"])),
      measure: measurePipeline,
    },
  ];
}

function commonTo(here: readonly string[] = [], there: readonly string[] = []): readonly string[] {
  return here.filter((name) => there.includes(name));
}
