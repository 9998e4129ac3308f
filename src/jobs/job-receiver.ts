import { join } from "node:path";
import type { IdempotentCall } from "../billing/idempotent-call.ts";
import type { Meter } from "../billing/meter.ts";
import type { Plan } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import { nounOf } from "../contract/noun.ts";
import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import { type JobPort, type JobRecord, UNFINISHED } from "../store/job-port.ts";
import { StorageError } from "../store/storage-error.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { IntakeOutcome } from "./intake/intake-messages.ts";
import type { Intake } from "./intake/intake-thread.ts";
import { CHUNKS_PER_TRANSACTION } from "./job-eraser.ts";
import type { JobRunner } from "./job-runner.ts";
import { type JobRequest, newJob, unitsOf } from "./new-job.ts";
import { findOwnJob } from "./own-job.ts";

/** Who a job is for. */
export type JobAccount = { readonly accountId: string; readonly plan: Plan };

/** Reads what a JSON body says beside its items, over what the query said. Throws `invalid_request`. */
export type FieldReader = (fields: { readonly [name: string]: unknown }) => Answer<JobRequest>;

export type JobInput = {
  /** The next bytes of the body; null at its end. */
  readonly next: () => Promise<Uint8Array | null>;
  readonly signal: AbortSignal;
};

export type JobReceiver = {
  /** Begins a job whose input is to be received; throws `too_many_jobs`. */
  readonly begin: (
    account: JobAccount,
    request: Omit<JobRequest, "form">,
    options?: {
      /** Returns the reply to keep with the job. */
      readonly keep?: (job: JobRecord) => ReplyRecord | null;
      /** The call may repeat an earlier one, which is known when its body is: only `start` counts the jobs to the unit. */
      readonly mayRepeat?: boolean;
    },
  ) => Promise<JobRecord>;
  /** Reads the input of a job that was begun; throws what is wrong with it, and nothing is kept then. */
  readonly receive: (
    account: JobAccount,
    job: JobRecord,
    request: JobRequest,
    input: JobInput,
    readFields: FieldReader,
  ) => Promise<ReceivedJob>;
  /**
   * Starts a job whose input was received, once, with the reply to keep; throws `quota_exceeded`, `too_many_jobs`.
   * `repeats` of the jobs that are being received are this one again, and will not be started.
   */
  readonly start: (
    account: JobAccount,
    received: ReceivedJob,
    keep: ((job: JobRecord) => ReturnType<IdempotentCall["keep"]>) | null,
    repeats?: number,
  ) => Promise<JobRecord>;
  /** Jobs whose input this process reads. */
  readonly reading: () => readonly string[];
};

export type ReceivedJob = {
  readonly job: JobRecord;
  readonly request: JobRequest;
  readonly input: Extract<IntakeOutcome, { ok: true }>;
};

export type JobReceiverDependencies = {
  readonly store: JobPort;
  readonly intake: Intake;
  readonly runner: Pick<JobRunner, "run">;
  readonly meter: Pick<Meter, "enter" | "reserve">;
  readonly clock: Clock;
  readonly newJobId: () => string;
  /** Waits until the rows of a chunk may be stored beside the calls. */
  readonly pace: (signal: AbortSignal) => Promise<void>;
  /** A random number of 32 bits. */
  readonly random32: () => number;
  readonly changed: (job: JobRecord) => void;
  readonly room: Pick<DiskRoom, "isLeft">;
  readonly settings: { readonly folder: string; readonly inputBytesMax: number };
};

/** Receives the input of jobs, and starts them. */
export function createJobReceiver(dependencies: JobReceiverDependencies): JobReceiver {
  const { store, intake, runner, meter, clock, newJobId, random32, changed, settings } = dependencies;
  const { room, pace } = dependencies;
  const reading = new Set<string>();

  async function readInput(
    plan: Plan,
    job: JobRecord,
    request: JobRequest,
    input: JobInput,
    readFields: FieldReader,
  ): Promise<ReceivedJob> {
    let firstRow = 0;
    const outcome = await intake.read(
      {
        form: request.form,
        kind: request.kind,
        rowsMax: plan.maxJobSize,
        bytesMax: settings.inputBytesMax,
        column: request.options.column,
        delimiter: request.options.delimiter,
        encoding: request.options.encoding,
        spillPath: join(settings.folder, `${job.jobId}.rows`),
        seeds: [random32(), random32()],
      },
      {
        next: input.next,
        async store(chunks) {
          const placed = chunks.map((chunk) => {
            const own = firstRow;
            firstRow += chunk.rows;
            return { ...chunk, firstRow: own };
          });
          for (const _chunk of chunks) await pace(input.signal);
          if (!(await room.isLeft())) throw new StorageError("the disk has no room for the rows of a job");
          await store.addJobChunks(job.jobId, placed);
        },
        async chunkBody(n) {
          const body = await store.inputBody(job.jobId, n);
          if (body === null) throw new Error("a chunk that was stored is gone");
          return body;
        },
        signal: input.signal,
      },
    );
    if (!outcome.ok) throw new ApiError(outcome.refusal.code, outcome.refusal.message);
    const whole = request.form === "json" ? await readFields(outcome.fields) : request;
    if (whole.kind !== "identity" && outcome.firstObject !== null) {
      throw new ApiError(
        "invalid_request",
        `items[${outcome.firstObject}] (row ${outcome.firstObject + 1}) must be a string.`,
      );
    }
    for (let from = 0; from < outcome.duplicates.length; from += CHUNKS_PER_TRANSACTION) {
      const some = outcome.duplicates.slice(from, from + CHUNKS_PER_TRANSACTION);
      if (some.some((bits) => bits !== null)) await store.markDuplicates(job.jobId, from, some);
      await Bun.sleep(0);
    }
    return { job, request: whole, input: outcome };
  }

  return {
    async begin({ accountId, plan }, request, { keep = () => null, mayRepeat = false } = {}) {
      const jobsMax = mayRepeat ? plan.maxJobs * 2 + 1 : plan.maxJobs;
      const job = newJob(newJobId(), accountId, request, clock.now());
      if (!(await store.createJob(job, keep(job), jobsMax))) throw tooManyJobs(plan);
      return job;
    },

    async receive({ plan }, job, request, input, readFields) {
      if (!(await store.claimInput(job.jobId))) throw beingRead();
      reading.add(job.jobId);
      try {
        return await readInput(plan, job, request, input, readFields);
      } catch (error) {
        // The caller has deleted it meanwhile.
        await findOwnJob(store, job.accountId, job.jobId);
        throw error;
      } finally {
        reading.delete(job.jobId);
      }
    },

    async start(account, { job, request, input }, keep, repeats = 0) {
      const { accountId, plan } = account;
      // With this one.
      const unfinished = await store.countJobs(accountId, UNFINISHED);
      if (unfinished - repeats > plan.maxJobs) throw tooManyJobs(plan);
      const unitsPerItem = unitsOf(request);
      if (request.options.whenOutOfUnits === "refuse") {
        await meter.enter(accountId);
        meter.reserve(account, input.distinct * unitsPerItem, { isCall: false }).release();
      }
      const started = {
        status: "queued",
        kind: request.kind,
        name: request.name,
        options: JSON.stringify(request.options),
        inputTable: input.table === null ? null : JSON.stringify(input.table),
        chunkCount: input.duplicates.length,
        rows: input.rows,
        distinctRows: input.distinct,
        unitsPerItem,
        webhookUrl: request.webhookUrl,
      } as const;
      const reply = keep === null ? null : keep({ ...job, ...started });
      const queued = await store.startJob(job.jobId, started, reply);
      if (queued === null) {
        await findOwnJob(store, accountId, job.jobId);
        throw new ApiError("job_not_ready", "The job was started meanwhile.");
      }
      changed(queued);
      runner.run(queued);
      return queued;
    },

    reading: () => [...reading],
  };
}

function tooManyJobs({ plan, maxJobs }: Plan): ApiError {
  const message = `The ${plan} plan allows ${maxJobs} unfinished ${nounOf(maxJobs, "job")} at once.`;
  return new ApiError("too_many_jobs", message, { retryAfterSeconds: 10 });
}

function beingRead(): ApiError {
  return new ApiError("job_not_ready", "The input of the job is being read.");
}
