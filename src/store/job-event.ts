import type { JobRecord } from "./job-records.ts";
import { PAUSED_EVENT } from "./paused-deliveries.ts";
import type { NewEvent } from "./webhook-port.ts";

const JOB_EVENTS: ReadonlyMap<string, string> = new Map([
  ["completed", "job.completed"],
  ["failed", "job.failed"],
  ["paused", PAUSED_EVENT],
  ["cancelled", "job.cancelled"],
]);

/** Returns the event that a job's change to its state is, or null for a state without an event. */
export function jobEvent(job: JobRecord, at: number): NewEvent | null {
  const type = JOB_EVENTS.get(job.status);
  if (type === undefined) return null;
  const data = {
    job_id: job.jobId,
    kind: job.kind,
    name: job.name,
    status: job.status,
    status_reason: job.statusReason,
    counts: { rows: job.rows, distinct: job.distinctRows, processed: job.processed },
    units_charged: job.unitsCharged,
  };
  return { type, at, data };
}
