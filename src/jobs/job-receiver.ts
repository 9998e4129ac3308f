import type { IdempotentCall } from "../billing/idempotent-call.ts";
import type { Meter } from "../billing/meter.ts";
import type { Plan } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import { nounOf } from "../contract/noun.ts";
import type { Clock } from "../platform/clock.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import type { JobPort } from "../store/job-port.ts";
import { type JobRecord, UNFINISHED } from "../store/job-records.ts";
import {
  createInputReading,
  type FieldReader,
  type InputReadingDependencies,
  type JobInput,
  type ReceivedJob,
} from "./input-reading.ts";
import type { InputsInReading } from "./inputs-in-reading.ts";
import type { JobRunner } from "./job-runner.ts";
import { type JobRequest, newJob, unitsOf } from "./new-job.ts";
import { findOwnJob } from "./own-job.ts";

/** Who a job is for. */
export type JobAccount = { readonly accountId: string; readonly plan: Plan };

export type JobReceiver = {
  /** Creates a job whose input is still to be received; throws `too_many_jobs`. */
  readonly begin: (
    account: JobAccount,
    request: Omit<JobRequest, "form">,
    options?: {
      /** Returns the reply to keep with the job. */
      readonly keep?: (job: JobRecord) => ReplyRecord | null;
      /** The call may repeat an earlier one, which only its body shows: `start` then enforces the exact limit. */
      readonly mayRepeat?: boolean;
    },
  ) => Promise<JobRecord>;
  /** Reads and stores the input of a job. Throws an ApiError for an input that is refused, of which nothing is kept. */
  readonly receive: (
    account: JobAccount,
    job: JobRecord,
    request: JobRequest,
    input: JobInput,
    readFields: FieldReader,
  ) => Promise<ReceivedJob>;
  /**
   * Starts a job whose input was received, once, with the reply to keep; throws `quota_exceeded`, `too_many_jobs`.
   * `repeats` is how many jobs are being received for repetitions of this call: they are never started, and do not count.
   */
  readonly start: (
    account: JobAccount,
    received: ReceivedJob,
    keep: ((job: JobRecord) => ReturnType<IdempotentCall["keep"]>) | null,
    repeats?: number,
  ) => Promise<JobRecord>;
  /** Holds a job from erasing, and its lease, while its input is read and it is started. */
  readonly whileReading: InputsInReading["hold"];
  /** Jobs whose input this process reads. */
  readonly reading: () => readonly string[];
};

export type JobReceiverDependencies = InputReadingDependencies & {
  readonly store: JobPort;
  readonly runner: Pick<JobRunner, "run">;
  readonly meter: Pick<Meter, "ledger" | "reserve">;
  readonly clock: Clock;
  readonly newJobId: () => string;
  readonly inReading: InputsInReading;
  readonly changed: (job: JobRecord) => void;
};

/** Receives the input of jobs, and starts them. */
export function createJobReceiver(dependencies: JobReceiverDependencies): JobReceiver {
  const { store, runner, meter, clock, newJobId, inReading, changed } = dependencies;
  const readInput = createInputReading(dependencies);

  return {
    async begin({ accountId, plan }, request, { keep = () => null, mayRepeat = false } = {}) {
      const jobsMax = mayRepeat ? plan.maxJobs * 2 + 1 : plan.maxJobs;
      const job = newJob(newJobId(), accountId, request, clock.now());
      if (!(await store.createJob(job, keep(job), jobsMax))) throw tooManyJobs(plan);
      return job;
    },

    async receive({ plan }, job, request, input, readFields) {
      if (!(await store.claimInput(job.jobId))) throw beingRead();
      try {
        return await inReading.hold(job.jobId, () => readInput(plan, job, request, input, readFields));
      } catch (error) {
        // Throws `not_found` where the caller has deleted the job meanwhile.
        await findOwnJob(store, job.accountId, job.jobId);
        throw error;
      }
    },

    async start(account, { job, request, input }, keep, repeats = 0) {
      const { accountId, plan } = account;
      // This job is among them.
      const unfinished = await store.countJobs(accountId, UNFINISHED);
      if (unfinished - repeats > plan.maxJobs) throw tooManyJobs(plan);
      const unitsPerItem = unitsOf(request);
      if (request.options.whenOutOfUnits === "refuse") {
        // As the database has it now: another process may have charged for the job before this one.
        await meter.ledger(accountId);
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

    whileReading: inReading.hold,
    reading: inReading.jobIds,
  };
}

function tooManyJobs({ plan, maxJobs }: Plan): ApiError {
  const message = `The ${plan} plan allows ${maxJobs} unfinished ${nounOf(maxJobs, "job")} at once.`;
  return new ApiError("too_many_jobs", message, { retryAfterSeconds: 10 });
}

function beingRead(): ApiError {
  return new ApiError("job_not_ready", "The input of the job is being read.");
}
