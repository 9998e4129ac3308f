import { startAsked } from "./asked-process.ts";
import type { BatchesJob, BatchesRound, JobReport, SinglesJob, SinglesRound } from "./jobs.ts";
import { DRIVER, ROOT } from "./processes.ts";

/** A driver process that is started and warmed up once for many jobs, so that short rounds follow each other closely. */
export type Driver = AsyncDisposable & {
  readonly singles: (job: Omit<SinglesJob, "kind">) => Promise<JobReport<SinglesRound>>;
  readonly batches: (job: Omit<BatchesJob, "kind">) => Promise<JobReport<BatchesRound>>;
};

export async function startDriver(): Promise<Driver> {
  const driver = await startAsked(DRIVER, { root: ROOT });
  return {
    singles: async (job) => (await driver.ask({ ...job, kind: "singles" })) as JobReport<SinglesRound>,
    batches: async (job) => (await driver.ask({ ...job, kind: "batches" })) as JobReport<BatchesRound>,
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  };
}
