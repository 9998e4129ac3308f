import type { Client } from "../client/client.ts";
import type { EmailBatch, EmailResult } from "../client/contract-types.ts";

/** Verifies addresses as a job: sends them, says how far it is, and returns its results as a batch has them. */
export async function verifyAsJob(
  client: Client,
  addresses: readonly string[],
  write: (text: string) => void,
): Promise<EmailBatch> {
  let job = await client.createJob({ rows: addresses }, { name: "demo" });
  write(`The job ${job.job_id} has ${job.counts.rows} rows, ${job.counts.distinct} of them distinct.\n`);
  for await (const seen of client.watchJob(job.job_id)) {
    job = seen;
    write(`  ${seen.status}: ${seen.counts.processed} of ${seen.counts.rows} rows\n`);
  }
  const results: EmailResult[] = [];
  for await (const { row: _, ...result } of client.jobResults(job.job_id)) results.push(result);
  write("\n");
  const counted = (status: EmailResult["status"]) =>
    results.filter((result) => result.status === status).length;
  return {
    count: results.length,
    summary: {
      deliverable: counted("deliverable"),
      risky: counted("risky"),
      undeliverable: counted("undeliverable"),
      unknown: counted("unknown"),
      duplicates: job.counts.duplicates,
      units_charged: job.units_charged,
    },
    results,
  };
}
