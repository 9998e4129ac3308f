import { createClient } from "../../src/client/client.ts";
import { addressCorpus } from "../input.ts";
import { type Figure, median, overRounds } from "../result.ts";
import { CORPUS } from "./jobs.ts";
import { memoryMb, resetPeak } from "./proc.ts";
import { drive } from "./processes.ts";
import type { Bench, Findings } from "./scenarios.ts";

const ROWS = 1_000_000;
const ROWS_QUICK = 100_000;
const LARGEST_BATCH = 100_000;
const POLL_MS = 20;

type JobRound = { readonly rowsPerSecond: number; readonly firstResultMs: number };

/** Jobs of a million rows of known domains, by turns with batches of 100,000 of the same corpus. */
export async function measureJobs({ server, options, rounds, items }: Bench): Promise<Findings> {
  const rows = items(options.quick ? ROWS_QUICK : ROWS);
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const { cases } = addressCorpus(CORPUS);
  const addresses = cases.map(({ text }) => text);
  const jobs: JobRound[] = [];
  const batches: number[] = [];
  resetPeak(server.pid);
  for (let round = 0; round < rounds(3); round += 1) {
    jobs.push(await runJob(client, linesOf(addresses, rows, round)));
    const { aims } = await drive({
      kind: "batches",
      aims: [server],
      size: items(LARGEST_BATCH),
      parallel: 1,
      rounds: 1,
      roundMs: 0,
      cold: null,
    });
    batches.push(...aims.flat().map(({ addressesPerSecond }) => addressesPerSecond));
  }
  const name = `job of ${rows.toLocaleString("en")} rows, warm`;
  const group = "jobs (from the first byte sent until the job is completed)";
  const rowsPerSecond = median(jobs.map((job) => job.rowsPerSecond));
  const figures: Figure[] = [
    { name, group, unit: "rows/s", better: "higher", ...overRounds(jobs.map((job) => job.rowsPerSecond)) },
    {
      name: `${name}: share of a batch's speed`,
      group,
      unit: "of a batch of 100,000",
      better: "higher",
      value: rowsPerSecond / median(batches),
    },
    {
      name: `${name}: first result readable after the 202`,
      group,
      unit: "ms",
      better: "lower",
      ...overRounds(jobs.map((job) => job.firstResultMs)),
    },
  ];
  const peak = memoryMb(server.pid)?.peak;
  if (peak !== undefined) {
    figures.push({ name: `${name}: resident memory, most`, group, unit: "MB", better: "lower", value: peak });
  }
  return { figures, targets: [] };
}

async function runJob(client: ReturnType<typeof createClient>, text: string): Promise<JobRound> {
  const startedMs = performance.now();
  const { job_id: jobId, counts } = await client.createJob({ text });
  const acceptedMs = performance.now();
  let firstResultMs = Number.NaN;
  for (;;) {
    const job = await client.job(jobId);
    if (Number.isNaN(firstResultMs)) {
      const first = await client.jobResults(jobId, { partial: true }).next();
      if (first.done !== true) firstResultMs = performance.now() - acceptedMs;
    }
    if (job.status === "completed") break;
    if (job.status !== "queued" && job.status !== "running") throw new Error(`The job is ${job.status}`);
    await Bun.sleep(POLL_MS);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  await client.deleteJob(jobId);
  return { rowsPerSecond: counts.rows / seconds, firstResultMs };
}

/** Rows that differ from each other, of the domains of the corpus. */
function linesOf(addresses: readonly string[], rows: number, round: number): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const address = addresses[row % addresses.length] ?? "";
    return `j${round}x${Math.floor(row / addresses.length)}${address}`;
  });
  return lines.join("\n");
}
