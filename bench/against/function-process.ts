import { join } from "node:path";
import { startAsked } from "../load/asked-process.ts";
import type { Pair, Readings, Subject } from "./comparison.ts";

/** A process with all that `bench` measures in one checkout. */
export type FunctionProcess = AsyncDisposable & {
  readonly names: readonly string[];
  /** Measures one function, or one batch of a pipeline. Returns its calls or addresses a second, under its name. */
  readonly measure: (name: string) => Promise<Readings>;
};

export type RatesAsked = { readonly name: string };
/** The process sends its names once all functions were proved right, and rates each time it is asked. */
export type FunctionsMessage = { readonly names?: readonly string[]; readonly rates?: Readings };

const ROUNDS = 24;
const WARMUPS = 12;

export async function startFunctions({
  root,
  vectors,
  scale,
}: {
  readonly root: string;
  /** The folder of the test vectors that are its input. */
  readonly vectors: string;
  /** Of the length of a whole run. */
  readonly scale: number;
}): Promise<FunctionProcess> {
  const child = await startAsked(join(import.meta.dir, "functions.ts"), {
    words: [root, vectors, `${scale}`],
    root,
  });
  const { names = [] } = child.first as FunctionsMessage;
  return {
    names,
    async measure(name) {
      const { rates = {} } = (await child.ask({ name } satisfies RatesAsked)) as FunctionsMessage;
      return rates;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** What `bench` measures under one name in both: each function, and each way of a batch through the threads. */
export const functionSubjects = ([here, there]: Pair<FunctionProcess>): readonly Subject<FunctionProcess>[] =>
  here.names
    .filter((name) => there.names.includes(name))
    .map((name) => ({
      name: "in process",
      rounds: ROUNDS,
      warmups: WARMUPS,
      units: { [name]: "calls/s" },
      measure: (one) => one.measure(name),
    }));
