import { join } from "node:path";
import { ALLOCATOR } from "../load/processes.ts";
import type { Figure } from "../result.ts";
import type { Pair, Subject } from "./comparison.ts";

/** A process with all that `bench` measures in one checkout. */
export type FunctionProcess = AsyncDisposable & {
  readonly names: readonly string[];
  /** Measures one function, or with null the pipeline. */
  readonly measure: (name: string | null, scale: number) => Promise<readonly Figure[]>;
};

export type FiguresAsked = { readonly name: string | null; readonly scale: number };
/** The process sends its names once all functions were proved right, and figures each time it is asked. */
export type FunctionsMessage =
  | { readonly names: readonly string[] }
  | { readonly figures: readonly Figure[] };

/** Many short rounds of a function: neighbours on the machine hit both alike. */
const ROUNDS = 21;
const PIPELINE_ROUNDS = 3;
/** Of the time that `bench` takes. */
const SHARE = 0.1;

export async function startFunctions({ root }: { readonly root: string }): Promise<FunctionProcess> {
  let next = Promise.withResolvers<FunctionsMessage>();
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dir, "functions.ts"), root],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", ...ALLOCATOR },
    stdio: ["ignore", "ignore", "inherit"],
    ipc: (message: FunctionsMessage) => next.resolve(message),
    onExit: (_, code) => next.reject(new Error(`the functions of ${root} ended with ${code}`)),
  });
  const first = await next.promise;
  return {
    names: "names" in first ? first.names : [],
    async measure(name, scale) {
      next = Promise.withResolvers();
      child.send({ name, scale } satisfies FiguresAsked);
      const reply = await next.promise;
      return "figures" in reply ? reply.figures : [];
    },
    async [Symbol.asyncDispose]() {
      next.promise.catch(() => {});
      child.disconnect();
      await child.exited;
    },
  };
}

/** What `bench` measures under one name in both: each function, and the ways of a batch through the threads. */
export async function functionSubjects(
  [here, there]: Pair<FunctionProcess>,
  scale: number,
): Promise<readonly Subject<FunctionProcess>[]> {
  const inBoth = here.names.filter((name) => there.names.includes(name));
  const ways = await Promise.all([here, there].map((one) => one.measure(null, 0)));
  const [ours = [], theirs = []] = ways.map((figures) => figures.map(({ name }) => name));
  return [
    ...inBoth.map((name) => ({
      ...{ name, rounds: ROUNDS, warmups: 4, units: { "calls a second": "calls/s" } },
      measure: async (one: FunctionProcess) =>
        Object.fromEntries(
          (await one.measure(name, scale * SHARE)).map(({ value }) => ["calls a second", value]),
        ),
    })),
    {
      ...{ name: "in process", rounds: PIPELINE_ROUNDS, warmups: 0 },
      units: Object.fromEntries(
        ours.filter((name) => theirs.includes(name)).map((name) => [name, "addresses/s"]),
      ),
      measure: async (one) =>
        Object.fromEntries((await one.measure(null, scale * SHARE)).map(({ name, value }) => [name, value])),
    },
  ];
}
