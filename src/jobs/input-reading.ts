import { join } from "node:path";
import type { Plan } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import type { Answer } from "../platform/answer.ts";
import type { JobPort } from "../store/job-port.ts";
import type { JobRecord } from "../store/job-records.ts";
import { StorageError } from "../store/storage-error.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { IntakeChunk } from "./intake/chunk-builder.ts";
import type { IntakeOutcome } from "./intake/intake-messages.ts";
import type { Intake } from "./intake/intake-thread.ts";
import { CHUNKS_PER_TRANSACTION } from "./job-eraser.ts";
import type { JobRequest } from "./new-job.ts";

/** Reads the fields of a JSON body beside its items; they override those of the query. Throws `invalid_request`. */
export type FieldReader = (fields: { readonly [name: string]: unknown }) => Answer<JobRequest>;

export type JobInput = {
  /** The next bytes of the body; null at its end. */
  readonly next: () => Promise<Uint8Array | null>;
  readonly signal: AbortSignal;
};

/** A job whose input is stored, and what was read of it. */
export type ReceivedJob = {
  readonly job: JobRecord;
  readonly request: JobRequest;
  readonly input: Extract<IntakeOutcome, { ok: true }>;
};

/** Reads the input of a job and stores its chunks. Throws an ApiError where the input is refused. */
export type ReadInput = (
  plan: Plan,
  job: JobRecord,
  request: JobRequest,
  input: JobInput,
  readFields: FieldReader,
) => Promise<ReceivedJob>;

export type InputReadingDependencies = {
  readonly store: Pick<JobPort, "addJobChunks" | "inputBody" | "markDuplicates">;
  readonly intake: Intake;
  /** Waits until the rows of a chunk may be stored beside the calls. */
  readonly pace: (signal: AbortSignal) => Promise<void>;
  /** A random number of 32 bits. */
  readonly random32: () => number;
  readonly room: Pick<DiskRoom, "isLeft">;
  readonly settings: { readonly folder: string; readonly inputBytesMax: number };
};

export function createInputReading(dependencies: InputReadingDependencies): ReadInput {
  const { store, intake, pace, random32, room, settings } = dependencies;

  /** Stores the chunks of a job in the order in which they are read. */
  function createChunkStore(jobId: string, signal: AbortSignal) {
    let firstRow = 0;
    return async (chunks: readonly IntakeChunk[]) => {
      const placed = chunks.map((chunk) => {
        const own = firstRow;
        firstRow += chunk.rows;
        return { ...chunk, firstRow: own };
      });
      for (const _chunk of chunks) await pace(signal);
      if (!(await room.isLeft())) throw new StorageError("the disk has no room for the rows of a job");
      await store.addJobChunks(jobId, placed);
    };
  }

  async function chunkBody(jobId: string, n: number): Promise<Uint8Array> {
    const body = await store.inputBody(jobId, n);
    if (body === null) throw new Error("a chunk that was stored is gone");
    return body;
  }

  async function markDuplicates(
    jobId: string,
    duplicates: ReceivedJob["input"]["duplicates"],
  ): Promise<void> {
    for (let from = 0; from < duplicates.length; from += CHUNKS_PER_TRANSACTION) {
      const some = duplicates.slice(from, from + CHUNKS_PER_TRANSACTION);
      if (some.some((bits) => bits !== null)) await store.markDuplicates(jobId, from, some);
      await Bun.sleep(0);
    }
  }

  return async (plan, job, request, input, readFields) => {
    const { jobId } = job;
    const outcome = await intake.read(
      {
        tenant: job.accountId,
        form: request.form,
        kind: request.kind,
        rowsMax: plan.maxJobSize,
        bytesMax: settings.inputBytesMax,
        column: request.options.column,
        delimiter: request.options.delimiter,
        encoding: request.options.encoding,
        spillPath: join(settings.folder, `${jobId}.rows`),
        seeds: [random32(), random32()],
      },
      {
        next: input.next,
        store: createChunkStore(jobId, input.signal),
        chunkBody: (n) => chunkBody(jobId, n),
        signal: input.signal,
      },
    );
    if (!outcome.ok) throw new ApiError(outcome.refusal.code, outcome.refusal.message);
    const whole = request.form === "json" ? await readFields(outcome.fields) : request;
    if (whole.kind !== "identity" && outcome.firstObject !== null) throw mustBeString(outcome.firstObject);
    await markDuplicates(jobId, outcome.duplicates);
    return { job, request: whole, input: outcome };
  };
}

/** The refusal of a JSON list with an object at this position where only strings are taken. */
function mustBeString(position: number): ApiError {
  return new ApiError("invalid_request", `items[${position}] (row ${position + 1}) must be a string.`);
}
