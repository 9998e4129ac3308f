import { ApiError } from "../../contract/errors.ts";
import type { ReplyRecord } from "../../store/account-records.ts";
import type { JobPort } from "../../store/job-port.ts";
import type { JobRecord } from "../../store/job-records.ts";
import { StorageError } from "../../store/storage-error.ts";
import type { DiskRoom } from "../disk-room.ts";
import type { FieldReader } from "../input-reading.ts";
import { type JobUpload, jobOf, type UploadEncoding } from "../job.ts";
import type { JobAccount } from "../job-receiver.ts";
import type { Jobs } from "../jobs.ts";
import type { JobRequest } from "../new-job.ts";
import { type PartForm, withPartForm } from "./part-form.ts";
import { startedAlready } from "./part-rules.ts";
import type { Parts } from "./parts.ts";

/** Jobs whose input comes in parts, for files that a connection may not survive. */
export type Uploads = {
  /** Begins a job that waits for its parts; `keep` returns the reply to keep with it. Throws `too_many_jobs`. */
  readonly create: (
    account: JobAccount,
    request: Omit<JobRequest, "form">,
    upload: JobUpload,
    keep: (job: JobRecord) => ReplyRecord | null,
  ) => Promise<JobRecord>;
  /** Throws `not_found`, and `job_not_ready` or `job_finished` where the job takes no parts. */
  readonly requireReceiving: (accountId: string, jobId: string) => Promise<void>;
  /** Takes a part, in the place of a former one with its number. Throws as `Parts.write` and what `check` throws. */
  readonly put: (account: JobAccount, part: UploadedPart, pieces: AsyncIterable<Uint8Array>) => Promise<void>;
  /**
   * Reads the parts in their order and starts the job. It goes on where its caller has left, and callers who ask
   * meanwhile get the same answer. An input that is refused is dropped; one that there are no units for stays.
   */
  readonly start: (account: JobAccount, jobId: string, start: UploadStart) => Promise<JobRecord>;
};

export type UploadedPart = PartForm & {
  readonly jobId: string;
  readonly n: number;
  /** Compares the part with its digests when all of it has arrived. */
  readonly check: () => void;
};

export type UploadStart = {
  readonly decode: (
    bytes: AsyncGenerator<Uint8Array, void, undefined>,
    encoding: UploadEncoding,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  readonly readFields: (request: JobRequest) => FieldReader;
  readonly keep: ((job: JobRecord) => ReplyRecord) | null;
};

export type UploadsDependencies = {
  readonly store: Pick<JobPort, "changeJob" | "claimInput" | "releaseInput">;
  readonly jobs: Pick<Jobs, "begin" | "receive" | "start" | "find" | "drop" | "clearInput" | "whileReading">;
  readonly parts: Parts;
  /** Of an input when it is decoded. */
  readonly inputBytesMax: number;
  readonly room: Pick<DiskRoom, "isLeft">;
};

export const PARTS_MAX = 10_000;
/** What the parts of a job may take on the disk for each row of the plan, and at least. */
const BYTES_PER_ROW = 4_096;
const JOB_BYTES_MIN = 67_108_864;
/** How often a start looks whether another process has ended it. */
const WAIT_FOR_START_MS = 200;

export function createUploads({ store, jobs, parts, inputBytesMax, room }: UploadsDependencies): Uploads {
  const starting = new Map<string, Promise<JobRecord>>();

  async function receiving(accountId: string, jobId: string): Promise<{ job: JobRecord; upload: JobUpload }> {
    const job = await jobs.find(accountId, jobId);
    const { upload } = jobOf(job).options;
    if (upload === undefined) {
      throw new ApiError("job_not_ready", "The job was not created with upload=parts.");
    }
    if (job.finishedAt !== null) throw new ApiError("job_finished", `The job is ${job.status}.`);
    if (job.status !== "receiving") throw startedAlready();
    return { job, upload };
  }

  async function requireReceiving(accountId: string, jobId: string): Promise<void> {
    await receiving(accountId, jobId);
    if (starting.has(jobId)) throw startedAlready();
  }

  /** Notes what the input is, where the job does not know it yet. Returns the options of the job. */
  async function noteForm(accountId: string, part: UploadedPart): Promise<string> {
    const { jobId, n } = part;
    for (;;) {
      const { job, upload } = await receiving(accountId, jobId);
      if (starting.has(jobId)) throw startedAlready();
      const { options } = jobOf(job);
      const noted = withPartForm(options, upload, n, part);
      if (noted === options) return job.options;
      // Another part may have noted its form meanwhile.
      const changed = JSON.stringify(noted);
      const after = await store.changeJob(jobId, ["receiving"], { options: changed }, job.options);
      if (after !== null) return changed;
    }
  }

  async function readParts(account: JobAccount, job: JobRecord, start: UploadStart): Promise<JobRecord> {
    const { jobId } = job;
    await parts.settled(jobId);
    const { options, kind, name, webhookUrl } = jobOf(job);
    const { upload } = options;
    const form = upload?.given ?? upload?.said ?? upload?.otherwise ?? null;
    if (form === null) {
      throw new ApiError("unsupported_media_type", "Name the Content-Type of the input with a part.");
    }
    const numbers = wholeNumbers(await parts.numbers(jobId));
    const request: JobRequest = { kind, name, webhookUrl, options, form };
    const bytes = parts.read(jobId, numbers);
    const encoding = upload?.encoding ?? null;
    const decoded = encoding === null ? bytes : start.decode(bytes, encoding);
    // A start that did not end may have left some.
    await jobs.clearInput(jobId);
    try {
      const input = {
        async next() {
          const { done, value } = await decoded.next();
          return done === true ? null : value;
        },
        signal: new AbortController().signal,
      };
      const received = await jobs.receive(account, job, request, input, start.readFields(request));
      return await jobs.start(account, received, start.keep);
    } finally {
      await decoded.return();
    }
  }

  /** Starts a job whose input this process has taken. */
  async function startClaimed(account: JobAccount, jobId: string, start: UploadStart): Promise<JobRecord> {
    try {
      // Until the input was claimed, a part may have noted its form.
      const { job } = await receiving(account.accountId, jobId);
      const queued = await readParts(account, job, start);
      // What cannot be removed now is removed by the next process.
      parts.remove(jobId).catch(() => undefined);
      return queued;
    } catch (error) {
      // The caller has deleted it meanwhile.
      await jobs.find(account.accountId, jobId);
      const isRefused = error instanceof ApiError && (error.status === 400 || error.status === 413);
      if (isRefused) await jobs.drop(jobId);
      else await store.releaseInput(jobId);
      throw error;
    }
  }

  async function run(account: JobAccount, job: JobRecord, start: UploadStart): Promise<JobRecord> {
    const { accountId, jobId } = job;
    try {
      await receiving(accountId, jobId);
      while (!(await store.claimInput(jobId))) {
        await Bun.sleep(WAIT_FOR_START_MS);
        const now = await jobs.find(accountId, jobId);
        if (now.status !== "receiving") return now;
      }
      return await startClaimed(account, jobId, start);
    } finally {
      starting.delete(jobId);
    }
  }

  return {
    create: (account, request, upload, keep) =>
      jobs.begin(account, { ...request, options: { ...request.options, upload } }, { keep }),

    requireReceiving,

    async put({ accountId, plan }, part, pieces) {
      const { jobId, n } = part;
      const jobBytesMax = Math.min(inputBytesMax, Math.max(JOB_BYTES_MIN, plan.maxJobSize * BYTES_PER_ROW));
      if (!(await room.isLeft())) throw new StorageError("the disk has no room for a part of an upload");
      try {
        await parts.write({ accountId, jobId, n, jobBytesMax }, pieces, async () => {
          part.check();
          return await noteForm(accountId, part);
        });
      } catch (error) {
        await jobs.find(accountId, jobId);
        throw error;
      }
    },

    async start(account, jobId, start) {
      const job = await jobs.find(account.accountId, jobId);
      if (job.status !== "receiving") return job;
      const running = starting.get(jobId);
      if (running !== undefined) return running;
      // It may be the last moment before an upload that nobody starts is dropped.
      const started = jobs.whileReading(jobId, () => run(account, job, start));
      starting.set(jobId, started);
      return started;
    },
  };
}

/** Throws `job_not_ready` unless the numbers go from 1 on without a gap. */
function wholeNumbers(numbers: readonly number[]): readonly number[] {
  if (numbers.length === 0) throw new ApiError("job_not_ready", "No part of the input has arrived.");
  const gap = numbers.findIndex((n, at) => n !== at + 1);
  if (gap === -1) return numbers;
  throw new ApiError("job_not_ready", `Part ${gap + 1} has not arrived; part ${numbers.at(-1)} has.`);
}
