import type { EmailResult, Job, JobFields, JobPage } from "./contract-types.ts";
import { UnreachableError } from "./failure.ts";
import { mediaTypeOf, partsOf } from "./job-input.ts";
import { jobResults } from "./job-results.ts";
import type { CreateJobOptions, JobInput, ResultsOptions, WatchOptions } from "./job-types.ts";
import { jobPath, type Wait, watchJob } from "./job-watch.ts";
import type { BytesBody, CallOptions, Send } from "./transport.ts";
import type { JobResult, JobStatus } from "./types.ts";

type ReadOptions = Pick<CallOptions, "signal">;

const PART_BYTES = 4_194_304;
const PARTS_IN_FLIGHT = 2;

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

  async function createJob(
    input: JobInput,
    fields: JobFields = {},
    { partBytes = PART_BYTES, ...options }: CreateJobOptions = {},
  ): Promise<Job> {
    const mediaType = mediaTypeOf(input);
    const parts = partsOf(input, partBytes);
    const first = (await parts.next()).value ?? new Uint8Array();
    const second = await parts.next();
    if (second.done === true) {
      const raw = await packed(first, { "Content-Type": mediaType });
      return send("POST", `/v1/jobs${queryOf(fields)}`, { ...options, raw }, readJob);
    }
    const { job_id: jobId } = await createUpload(mediaType, fields, options);
    const { signal, idempotencyKey } = options;
    try {
      await sendParts(jobId, startingWith([first, second.value], parts), signal);
    } catch (error) {
      // Under a key of its own the caller may send the rest.
      if (typeof idempotencyKey !== "string") await dropUpload(jobId, error, signal);
      throw error;
    }
    const key = typeof idempotencyKey === "string" ? `${idempotencyKey}-start` : idempotencyKey;
    return startJob(jobId, { ...options, idempotencyKey: key });
  }

  /** Deletes a job that will not be sent: it would count among the account's for a day. Who aborts does not wait for it. */
  async function dropUpload(jobId: string, error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (error instanceof UnreachableError) return;
    const dropped = deleteJob(jobId).catch(() => {});
    if (signal?.aborted !== true) await dropped;
  }

  const deleteJob = async (jobId: string, options: ReadOptions = {}): Promise<void> => {
    await send("DELETE", jobPath(jobId), options, async (reply) => reply.text());
  };

  async function sendParts(
    jobId: string,
    parts: AsyncIterable<Uint8Array<ArrayBuffer>>,
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

  return {
    /**
     * Creates a job of rows or of a text, compressed where the platform can; one that is larger than a part is uploaded in
     * parts, each of which is sent again where its connection breaks.
     */
    createJob,
    /** The three steps of an upload: create it, send its parts in any order and again at will, start it. */
    createUpload,
    putJobPart,
    startJob,
    job: (jobId: string, options: ReadOptions = {}) => send("GET", jobPath(jobId), options, readJob),
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

/** Compresses a body where the platform can, and says its digest where Web Crypto is. */
async function packed(
  bytes: Uint8Array<ArrayBuffer>,
  headers: { readonly [name: string]: string },
): Promise<BytesBody> {
  const canPack = typeof CompressionStream === "function";
  const sent = canPack ? await gzipped(bytes) : bytes;
  const digest = crypto.subtle === undefined ? null : await crypto.subtle.digest("SHA-256", sent);
  return {
    bytes: sent,
    headers: {
      ...headers,
      ...(canPack ? { "Content-Encoding": "gzip" } : {}),
      ...(digest === null ? {} : { "Content-Digest": `sha-256=:${base64(new Uint8Array(digest))}:` }),
    },
  };
}

async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
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
