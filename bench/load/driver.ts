import { createBatchSender } from "./batches.ts";
import type { Aim, BatchesRound, Job, JobReport, SinglesRound } from "./jobs.ts";
import { ROUND_MS_MIN } from "./scenarios.ts";
import { singlesRound } from "./singles.ts";
import { warmUpDriver } from "./warm-up.ts";

// A process of its own, so that sending and reading take no time from the server that is measured, but a core. It does the
// job that its argument is, and ends; without one it does those that it is sent, one after the other.

const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  const job: Job = JSON.parse(argument);
  // A round that is shorter shows that all works, and is no figure.
  if (job.kind === "singles" && job.roundMs >= ROUND_MS_MIN) await warmUpDriver();
  process.stdout.write(JSON.stringify(await run(job)));
} else {
  await warmUpDriver();
  process.on("message", async (job: Job) => void process.send?.(await run(job)));
  process.once("disconnect", () => process.exit());
  process.send?.(null);
}

async function run(job: Job): Promise<JobReport<SinglesRound> | JobReport<BatchesRound>> {
  if (job.kind === "singles") return measured(job, (aim, round) => singlesRound(job, aim, round));
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
