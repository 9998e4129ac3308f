import { join } from "node:path";
import type { IdempotentCall } from "../billing/idempotent-call.ts";
import type { Meter } from "../billing/meter.ts";
import type { Plan } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import { nounOf } from "../contract/noun.ts";
import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import {
  type JobChange,
  type JobPort,
  type JobRecord,
  type JobStatus,
  UNFINISHED,
} from "../store/job-port.ts";
import { StorageError } from "../store/storage-error.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { IntakeOutcome } from "./intake/intake-messages.ts";
import type { Intake } from "./intake/intake-thread.ts";
import { jobOf } from "./job.ts";
import type { JobRunner } from "./job-runner.ts";
import { type JobRequest, newJob, unitsOf } from "./new-job.ts";

/** Who a job is for. */
export type JobAccount = { readonly accountId: string; readonly plan: Plan };

/** Reads what a JSON body says beside its items, over what the query said. Throws `invalid_request`. */
export type FieldReader = (fields: { readonly [name: string]: unknown }) => Answer<JobRequest>;

export type JobInput = {
  /** The next bytes of the body; null at its end. */
  readonly next: () => Promise<Uint8Array | null>;
  readonly signal: AbortSignal;
};

export type Jobs = {
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
  /** Erases a job that never started; false where it did. */
  readonly drop: (jobId: string) => Promise<boolean>;
  /** Erases what was read of an input. */
  readonly dropChunks: (jobId: string) => Promise<void>;
  /** Throws `not_found` for a job that the account does not have. */
  readonly find: (accountId: string, jobId: string) => Promise<JobRecord>;
  readonly list: (
    accountId: string,
    page: { readonly status: JobStatus | null; readonly afterJobId: string | null; readonly limit: number },
  ) => Promise<{ readonly jobs: readonly JobRecord[]; readonly hasMore: boolean }>;
  readonly pause: (accountId: string, jobId: string) => Promise<JobRecord>;
  readonly resume: (accountId: string, jobId: string) => Promise<JobRecord>;
  readonly cancel: (accountId: string, jobId: string) => Promise<JobRecord>;
  /** Takes a job out of the lists and erases its input and results. */
  readonly remove: (accountId: string, jobId: string) => Promise<void>;
  /** Erases what is past its retention, and inputs that were never started. */
  readonly prune: () => Promise<void>;
  /** Erases inputs that a process was receiving which is gone, but for those that come in parts. */
  readonly dropCutOff: () => Promise<void>;
  /** Jobs whose input this process reads. */
  readonly reading: () => readonly string[];
};

export type ReceivedJob = {
  readonly job: JobRecord;
  readonly request: JobRequest;
  readonly input: Extract<IntakeOutcome, { ok: true }>;
};

export type JobsDependencies = {
  readonly store: JobPort;
  readonly intake: Intake;
  readonly runner: JobRunner;
  readonly meter: Pick<Meter, "enter" | "reserve">;
  readonly clock: Clock;
  readonly newJobId: () => string;
  /** Waits until the rows of a chunk may be stored beside the calls. */
  readonly pace: (signal: AbortSignal) => Promise<void>;
  /** A random number of 32 bits. */
  readonly random32: () => number;
  readonly changed: (job: JobRecord) => void;
  /** Erases the parts of an input. */
  readonly dropParts: (jobId: string) => Promise<void>;
  readonly room: Pick<DiskRoom, "isLeft">;
  readonly settings: { readonly folder: string; readonly inputBytesMax: number; readonly uploadMs: number };
};

/** Chunks whose duplicates are written, or whose data is erased, in one transaction: 2 ms at most. */
const CHUNKS_PER_TRANSACTION = 32;
const ERASED_PER_RUN = 100;

/** The jobs of all accounts: received, started, changed by their callers, and erased in the end. */
export function createJobs(dependencies: JobsDependencies): Jobs {
  const { store, intake, runner, meter, clock, newJobId, random32, changed, settings } = dependencies;
  const { dropParts, room, pace } = dependencies;

  /** Jobs whose input this process reads. */
  const reading = new Set<string>();

  async function find(accountId: string, jobId: string): Promise<JobRecord> {
    const job = await store.findJob(jobId);
    if (job === null || job.accountId !== accountId || job.deletedAt !== null) {
      throw new ApiError("not_found", "The account has no such job.");
    }
    return job;
  }

  async function erase(jobId: string): Promise<void> {
    while (await store.eraseChunks(jobId, CHUNKS_PER_TRANSACTION)) await Bun.sleep(0);
  }

  /** False where the job has been started: its commit may have come about without an answer. */
  async function drop(jobId: string): Promise<boolean> {
    // From here on it takes no rows and is not started, so that nothing of it comes after what is erased.
    const dropped = await store.changeJob(jobId, ["receiving"], { deletedAt: clock.now() });
    if (dropped === null) return false;
    await erase(jobId);
    await dropParts(jobId);
    await store.forgetJob(jobId);
    return true;
  }

  async function change(
    job: JobRecord,
    from: readonly JobStatus[],
    to: JobChange,
  ): Promise<JobRecord | null> {
    const after = await store.changeJob(job.jobId, from, to);
    if (after !== null) changed(after);
    return after;
  }

  /** False, and nothing done, where the job has left its state meanwhile. */
  async function removeFrom(job: JobRecord): Promise<boolean> {
    const { jobId, status } = job;
    if (status === "receiving") return drop(jobId);
    const now = clock.now();
    const isLive = UNFINISHED.includes(status);
    const ended = isLive ? ({ status: "cancelling", statusReason: "by_caller" } as const) : {};
    const removed = await change(job, [status], { ...ended, deletedAt: now, expiresAt: now });
    if (removed === null) return false;
    if (isLive) await runner.hold(removed);
    const after = await store.findJob(jobId);
    // Chunks in work are finished first; the pruning erases the rest.
    if (after === null || UNFINISHED.includes(after.status)) return true;
    await erase(jobId);
    await store.changeJob(jobId, [after.status], { erasedAt: now });
    return true;
  }

  function requireNotEnded({ status }: JobRecord): void {
    if (status === "receiving") throw new ApiError("job_not_ready", "The job is still being received.");
    if (!UNFINISHED.includes(status)) throw new ApiError("job_finished", `The job is ${status}.`);
  }

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
        await find(job.accountId, job.jobId);
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
        await find(accountId, job.jobId);
        throw new ApiError("job_not_ready", "The job was started meanwhile.");
      }
      changed(queued);
      runner.run(queued);
      return queued;
    },

    drop,
    dropChunks: erase,
    find,
    reading: () => [...reading],

    async list(accountId, { status, afterJobId, limit }) {
      const page = await store.jobPage({ accountId, status, afterJobId, limit: limit + 1 });
      if (page === null) throw new ApiError("invalid_request", "starting_after is no job of the account.");
      return { jobs: page.slice(0, limit), hasMore: page.length > limit };
    },

    async pause(accountId, jobId) {
      const job = await find(accountId, jobId);
      if (job.status === "paused" && job.statusReason === "by_caller") return job;
      requireNotEnded(job);
      const paused = await change(job, ["queued", "running", "paused"], {
        status: "paused",
        statusReason: "by_caller",
      });
      if (paused !== null) await runner.hold(paused);
      return paused ?? (await find(accountId, jobId));
    },

    async resume(accountId, jobId) {
      const job = await find(accountId, jobId);
      requireNotEnded(job);
      const status = job.startedAt === null ? "queued" : "running";
      const resumed = await change(job, ["paused"], { status, statusReason: null });
      if (resumed !== null) runner.run(resumed);
      return resumed ?? (await find(accountId, jobId));
    },

    async cancel(accountId, jobId) {
      const job = await find(accountId, jobId);
      if (job.status === "cancelled") return job;
      requireNotEnded(job);
      const cancelling = await change(job, ["queued", "running", "paused"], {
        status: "cancelling",
        statusReason: "by_caller",
      });
      if (cancelling !== null) await runner.hold(cancelling);
      return find(accountId, jobId);
    },

    async remove(accountId, jobId) {
      // It may come to another state between two looks.
      while (!(await removeFrom(await find(accountId, jobId))));
    },

    async dropCutOff() {
      for (const job of await store.unreadJobs()) {
        if (jobOf(job).options.upload === undefined) await drop(job.jobId);
      }
    },

    async prune() {
      const now = clock.now();
      for (const job of await store.jobsIn(["receiving"])) {
        // A process may have ended while it dropped one.
        if (job.createdAt + settings.uploadMs <= now || job.deletedAt !== null) await drop(job.jobId);
      }
      for (const job of await store.jobsToErase(now, ERASED_PER_RUN)) {
        if (UNFINISHED.includes(job.status)) continue;
        await erase(job.jobId);
        await store.changeJob(job.jobId, [job.status], { erasedAt: now });
      }
    },
  };
}

function tooManyJobs({ plan, maxJobs }: Plan): ApiError {
  const message = `The ${plan} plan allows ${maxJobs} unfinished ${nounOf(maxJobs, "job")} at once.`;
  return new ApiError("too_many_jobs", message, { retryAfterSeconds: 10 });
}

function beingRead(): ApiError {
  return new ApiError("job_not_ready", "The input of the job is being read.");
}
