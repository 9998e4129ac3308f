import type { EmailResult, Job, JobFields, JobPage } from "./contract-types.ts";
import { createInParts } from "./job-creation.ts";
import { mediaTypeOf, partsOf } from "./job-input.ts";
import { jobResults } from "./job-results.ts";
import type { CreateJobOptions, JobInput, ResultsOptions, WatchOptions } from "./job-types.ts";
import { jobPath, type Wait, watchJob } from "./job-watch.ts";
import { packed } from "./packed-body.ts";
import type { CallOptions, Send } from "./transport.ts";
import type { JobResult, JobStatus } from "./types.ts";

type ReadOptions = Pick<CallOptions, "signal">;

const PART_BYTES = 4_194_304;

/** Creates the calls of jobs. */
export function createJobCalls(send: Send, wait: Wait) {
  const readJob = async (reply: Response): Promise<Job> => (await reply.json()) as Job;
  const steer =
    (verb: string) =>
    (jobId: string, options: ReadOptions = {}) =>
      send("POST", `${jobPath(jobId)}/${verb}`, options, readJob);

  async function createUpload(
    mediaType: string,
    fields: JobFields = {},
    options: CallOptions = {},
  ): Promise<Job> {
    const raw = { bytes: new Uint8Array(), headers: { "Content-Type": mediaType } };
    return send("POST", `/v1/jobs${queryOf(fields, { upload: "parts" })}`, { ...options, raw }, readJob);
  }

  async function putJobPart(
    jobId: string,
    n: number,
    bytes: Uint8Array<ArrayBuffer>,
    { signal }: ReadOptions = {},
  ): Promise<void> {
    const raw = await packed(bytes, {});
    await send("PUT", `${jobPath(jobId)}/parts/${n}`, { signal, raw }, async (reply) => reply.text());
  }

  const startJob = (jobId: string, options: CallOptions = {}) =>
    send("POST", `${jobPath(jobId)}/start`, options, readJob);

  const job = (jobId: string, options: ReadOptions = {}) => send("GET", jobPath(jobId), options, readJob);

  const deleteJob = async (jobId: string, options: ReadOptions = {}): Promise<void> => {
    await send("DELETE", jobPath(jobId), options, async (reply) => reply.text());
  };

  async function createJob(
    input: JobInput,
    fields: JobFields = {},
    { partBytes = PART_BYTES, ...options }: CreateJobOptions = {},
  ): Promise<Job> {
    const mediaType = mediaTypeOf(input);
    const parts = partsOf(input, partBytes, options.signal);
    try {
      const first = (await parts.next()).value ?? new Uint8Array();
      const second = await parts.next();
      if (second.done === true) {
        const raw = await packed(first, { "Content-Type": mediaType });
        return await send("POST", `/v1/jobs${queryOf(fields)}`, { ...options, raw }, readJob);
      }
      const calls = { createUpload, putJobPart, startJob, job, deleteJob };
      const all = startingWith([first, second.value], parts);
      return await createInParts(calls, { mediaType, fields, parts: all }, options);
    } finally {
      // Closes a source that is not at its end, such as an open file.
      await parts.return().catch(() => undefined);
    }
  }

  return {
    /**
     * Creates a job of rows or of a text, compressed where the platform can; one that is larger than a part is uploaded in
     * parts, each of which is sent again where its connection breaks. A job that is not started is dropped, but for one that
     * its caller can go on with: under an `idempotencyKey` of the caller's the same call goes on, and the `jobId` of the
     * error names the job that stays.
     */
    createJob,
    /** The three steps of an upload: create it, send its parts in any order and again at will, start it. */
    createUpload,
    putJobPart,
    startJob,
    job,
    jobs: (
      query: { status?: JobStatus; limit?: number; starting_after?: string } = {},
      options: ReadOptions = {},
    ) =>
      send(
        "GET",
        `/v1/jobs${queryOf(query)}`,
        options,
        async (reply): Promise<JobPage> => (await reply.json()) as JobPage,
      ),
    pauseJob: steer("pause"),
    resumeJob: steer("resume"),
    cancelJob: steer("cancel"),
    deleteJob,
    /** Yields the job now and at each change until it ends: by events, or by polling where they are blocked. */
    watchJob: (jobId: string, options: WatchOptions = {}): AsyncGenerator<Job, void, undefined> =>
      watchJob(send, wait, jobId, options),
    /** Waits for the job's end unless `partial`, and returns its results in the order of the input. */
    jobResults: <Result = EmailResult>(
      jobId: string,
      options: ResultsOptions = {},
    ): AsyncGenerator<JobResult<Result>, void, undefined> => jobResults<Result>(send, wait, jobId, options),
  };
}

async function* startingWith<Value>(
  first: readonly Value[],
  rest: AsyncGenerator<Value, void, undefined>,
): AsyncGenerator<Value, void, undefined> {
  yield* first;
  yield* rest;
}

function queryOf(
  fields: { readonly [name: string]: string | number | boolean | undefined },
  more: { readonly [name: string]: string } = {},
): string {
  const query = new URLSearchParams(more);
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}
