import { cpuSeconds } from "./proc.ts";
import type { BenchServer } from "./server-process.ts";

/** What a server spent on a piece of work. */
export type Spent = {
  /** Seconds of CPU of the whole process and of its main thread; null where the system does not report it. */
  readonly cpuSeconds: number | null;
  readonly mainThreadSeconds: number | null;
  /** The event loop's lag meanwhile, as the server's own metrics have it. */
  readonly loopLagP99Ms: number;
  readonly loopLagMaxMs: number;
};

/** Measures what `server` spends while the work goes on. */
export async function spending<T>(
  server: BenchServer,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly spent: Spent }> {
  // Reading the metrics sets the lag back to nothing.
  await loopLag(server);
  const before = cpuSeconds(server.pid);
  const result = await work();
  const after = cpuSeconds(server.pid);
  const lag = await loopLag(server);
  const known = before !== null && after !== null;
  return {
    result,
    spent: {
      cpuSeconds: known ? after.all - before.all : null,
      mainThreadSeconds: known ? after.mainThread - before.mainThread : null,
      ...lag,
    },
  };
}

async function loopLag({ url }: BenchServer): Promise<Pick<Spent, "loopLagP99Ms" | "loopLagMaxMs">> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const seconds = (name: string) => {
    const value = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, "m").exec(text)?.[1];
    return value === undefined ? Number.NaN : Number(value);
  };
  return { loopLagP99Ms: seconds("p99") * 1000, loopLagMaxMs: seconds("max") * 1000 };
}
