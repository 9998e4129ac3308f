import { createBatchSender } from "./batches.ts";
import type { Aim, BatchesRound, Job, JobReport, SinglesRound } from "./jobs.ts";
import { singlesRound } from "./singles.ts";
import { warmUpDriver } from "./warm-up.ts";

// A process of its own, so that sending and reading take no time from the server that is measured, but a core.

const job: Job = JSON.parse(process.argv[2] ?? "");
const report = await run(job);
process.stdout.write(JSON.stringify(report));

async function run(job: Job): Promise<JobReport<SinglesRound> | JobReport<BatchesRound>> {
  if (job.kind === "singles") {
    await warmUpDriver();
    return measured(job, (aim) => singlesRound(job, aim));
  }
  return measured(job, createBatchSender(job));
}

/** Round by round, and in each round every aim once, so that a busy moment of the machine hits them all alike. */
async function measured<Round>(
  { aims, rounds }: Job,
  measure: (aim: Aim, round: number) => Promise<Round>,
): Promise<JobReport<Round>> {
  const found: Round[][] = aims.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [which, aim] of aims.entries()) found[which]?.push(await measure(aim, round));
  }
  return { aims: found };
}
