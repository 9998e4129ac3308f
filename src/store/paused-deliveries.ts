import type { DeliveryRecord } from "./webhook-port.ts";

/** The type of the events of which a job can have any number: it may be paused and resumed without end. */
export const PAUSED_EVENT = "job.paused";

/** What precedes the identity of the job in the body of an event, which has no text of its caller before it. */
export const JOB_ID_NAME = '"job_id":"';
/** With the identity behind it; what follows in the body is the same for all events of a job. */
export const JOB_ID_CHARS = 40;

/**
 * Events of the pauses of one job that a webhook keeps among its last deliveries, the newest. With this many of each of the
 * 30 jobs that the largest plan has at once, all are among the last deliveries.
 */
export const PAUSES_OF_JOB_MAX = 20;

/**
 * Whether the older events of pauses are removed with this delivery: they are with one of 16, drawn by its identity, as all
 * last deliveries are read for it, which takes some milliseconds.
 */
export function removesPauses({ type, deliveryId }: Pick<DeliveryRecord, "type" | "deliveryId">): boolean {
  return type === PAUSED_EVENT && deliveryId.endsWith("0");
}
