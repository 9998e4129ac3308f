import type { Job, JobFields } from "./contract-types.ts";
import { RefusedError, UnreachableError } from "./failure.ts";
import { isReplyLost } from "./repetition.ts";
import type { CallOptions } from "./transport.ts";

type Part = Uint8Array<ArrayBuffer>;
type ReadOptions = Pick<CallOptions, "signal">;

/** The calls of an upload. */
type UploadCalls = {
  readonly createUpload: (mediaType: string, fields: JobFields, options: CallOptions) => Promise<Job>;
  readonly putJobPart: (jobId: string, n: number, bytes: Part, options: ReadOptions) => Promise<void>;
  readonly startJob: (jobId: string, options: CallOptions) => Promise<Job>;
  readonly job: (jobId: string, options: ReadOptions) => Promise<Job>;
  readonly deleteJob: (jobId: string) => Promise<void>;
};

type Upload = {
  readonly mediaType: string;
  readonly fields: JobFields;
  readonly parts: AsyncIterable<Part>;
};

const PARTS_IN_FLIGHT = 2;
/** What the parts and the start of a job are refused with that was started before. */
const STARTED: readonly string[] = ["job_not_ready", "job_finished"];

/**
 * Creates a job in parts and starts it. Under a key of the caller's, a call that is made again goes on with the job of the
 * first, started or not. Drops a job that is not started, but for one that the caller's key, or the `jobId` of the error,
 * leads back to.
 */
export async function createInParts(
  calls: UploadCalls,
  { mediaType, fields, parts }: Upload,
  options: CallOptions,
): Promise<Job> {
  const { signal, idempotencyKey } = options;
  const { job_id: jobId } = await calls.createUpload(mediaType, fields, options);
  if (typeof idempotencyKey === "string") {
    return namingJob(jobId, () => continueUpload(calls, jobId, parts, signal));
  }
  let isSent = false;
  try {
    await sendParts(calls, jobId, parts, signal);
    isSent = true;
    return await calls.startJob(jobId, options);
  } catch (error) {
    if (isOutcomeUnknown(error) || (isSent && mayBeStarted(error))) throw naming(error, jobId);
    // Left behind it would count among the account's jobs for a day. Who aborts does not wait for it.
    const dropped = calls.deleteJob(jobId).catch(() => {});
    if (signal?.aborted !== true) await dropped;
    throw error;
  }
}

/** Sends the parts and starts the job; a job that an earlier call has started is returned as it is. */
async function continueUpload(
  calls: UploadCalls,
  jobId: string,
  parts: AsyncIterable<Part>,
  signal: AbortSignal | undefined,
): Promise<Job> {
  await sendParts(calls, jobId, parts, signal).catch((error: unknown) => {
    if (!isOfStarted(error)) throw error;
  });
  try {
    // Made of the job's id: a key of the caller's may already be as long as a key may be.
    return await calls.startJob(jobId, { signal, idempotencyKey: `${jobId}-start` });
  } catch (error) {
    if (!isOfStarted(error)) throw error;
    const job = await calls.job(jobId, { signal });
    if (job.status === "receiving") throw error;
    return job;
  }
}

async function sendParts(
  { putJobPart }: UploadCalls,
  jobId: string,
  parts: AsyncIterable<Part>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let n = 0;
  for await (const part of parts) {
    n += 1;
    const sent: Promise<void> = putJobPart(jobId, n, part, { signal })
      .catch((error: unknown) => void failures.push(error))
      .finally(() => inFlight.delete(sent));
    inFlight.add(sent);
    if (inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(inFlight);
    if (failures.length > 0) break;
  }
  await Promise.all(inFlight);
  if (failures.length > 0) throw failures[0];
}

/** Whether a part, or a start, is refused with this as the job was started before. */
export function isOfStarted(error: unknown): boolean {
  return error instanceof RefusedError && STARTED.includes(error.code);
}

/** Whether nothing is known of what the server did: it is out of reach, or a proxy answered, but for a proxy's own 4xx. */
function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && isReplyLost(error));
}

/** Whether a start that ends in this may have been done: an attempt runs on, met a fault half-way, or lost its reply. */
function mayBeStarted(error: unknown): boolean {
  if (!(error instanceof RefusedError)) return false;
  return error.isReplyLost || error.code === "idempotency_in_progress" || error.status === 500;
}

async function namingJob(jobId: string, work: () => Promise<Job>): Promise<Job> {
  try {
    return await work();
  } catch (error) {
    throw naming(error, jobId);
  }
}

function naming(error: unknown, jobId: string): unknown {
  if (error instanceof RefusedError || error instanceof UnreachableError) error.jobId = jobId;
  return error;
}
