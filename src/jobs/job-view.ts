import { SUMMARY_WORDS } from "../contract/words.ts";
import type { JobCounts, ListedJob } from "../store/job-records.ts";
import { jobFactsOf } from "./job.ts";

/** Returns a job as callers see it. */
export function jobView(record: ListedJob, now: number) {
  const { options, kind, ...job } = jobFactsOf(record);
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  const elapsedMs = job.startedAt === null ? 0 : (job.finishedAt ?? now) - job.startedAt;
  const rowsPerSecond = elapsedMs > 0 ? (job.processed * 1_000) / elapsedMs : null;
  const isRunning = job.status === "running" && rowsPerSecond !== null && rowsPerSecond > 0;
  return {
    job_id: job.jobId,
    kind,
    name: job.name,
    status: job.status,
    status_reason: job.statusReason,
    created_at: new Date(job.createdAt).toISOString(),
    started_at: iso(job.startedAt),
    finished_at: iso(job.finishedAt),
    expires_at: iso(job.expiresAt),
    options: {
      deep: options.deep,
      dns: options.dns,
      country: options.country,
      type: options.type,
      column: options.column,
      delimiter: options.delimiter,
      encoding: options.encoding,
      when_out_of_units: options.whenOutOfUnits,
      webhook_url: job.webhookUrl,
    },
    counts: {
      rows: job.rows,
      distinct: job.distinctRows,
      duplicates: job.rows - job.distinctRows,
      processed: job.processed,
      ...countsOf(kind, job.counts),
    },
    units_charged: job.unitsCharged,
    progress: job.rows === 0 ? (job.finishedAt === null ? 0 : 1) : job.processed / job.rows,
    rows_per_second: rowsPerSecond === null ? null : Math.round(rowsPerSecond),
    eta_seconds: isRunning ? Math.ceil((job.rows - job.processed) / rowsPerSecond) : null,
    results_url: `/v1/jobs/${job.jobId}/results`,
  };
}

/** Returns the counts by the words of the summary; 0 for words without a result. */
function countsOf(kind: keyof typeof SUMMARY_WORDS, text: string): JobCounts {
  const counts: JobCounts = JSON.parse(text);
  return Object.fromEntries(SUMMARY_WORDS[kind].map((word) => [word, counts[word] ?? 0]));
}
