import { mapConcurrently } from "../../batch/concurrent-map.ts";
import { INTERACTIVE_WEIGHT } from "../../batch/fair-queue.ts";
import { ApiError } from "../../contract/errors.ts";
import type { JobPort } from "../../store/job-port.ts";
import { type ChunkResults, UNFINISHED } from "../../store/job-records.ts";
import { recordFormOf } from "../intake/records.ts";
import type { Job } from "../job.ts";
import type { Pace } from "../pace.ts";
import type { JobPool } from "../thread-tasks.ts";
import { createCsvLengths, type Entry } from "./csv-lengths.ts";
import { bytesOf, type ChunkBytes, chunksBefore } from "./result-bytes.ts";
import {
  csvHeader,
  type RenderedResults,
  type ResultFilter,
  type ResultFormat,
  taskOf,
} from "./result-rendering.ts";
import { skipFirst } from "./skip-first.ts";

export type ResultsRequest = {
  readonly format: ResultFormat;
  readonly filter: ResultFilter;
  /** The first byte of the whole download that is wanted. */
  readonly fromByte: number;
};

export type JobResults = {
  /** Yields the results up to the first unfinished row, in the order of the input. */
  readonly read: (
    job: Job,
    request: ResultsRequest,
    signal: AbortSignal,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Returns the bytes of an unfiltered download, for a job whose results no longer change. Of a CSV all results may have to
   * be rendered for it, once for all who wait: that alone enters, and what it entered is disposed of at its end.
   */
  readonly length: (job: Job, format: ResultFormat, enter: Entry) => Promise<number>;
};

/** Chunks that are read ahead of the reader. */
const CHUNKS_AHEAD = 3;
const PAGE_CHUNKS = 64;
const JSON_START = '{"results":[';
const UNFILTERED: ResultFilter = { statuses: null, subStatuses: null };

export function createJobResults({
  store,
  pool,
  pace = null,
}: {
  readonly store: Pick<JobPort, "chunkResults" | "resultBodies" | "inputBody">;
  readonly pool: JobPool;
  readonly pace?: Pick<Pace, "hurry"> | null;
}): JobResults {
  const csvLengths = createCsvLengths(measure);

  /** Yields the finished chunks: up to the first gap, or all where the job has ended and no gap will be filled. */
  async function* finished({
    jobId,
    status,
    chunkCount,
  }: Job): AsyncGenerator<ChunkResults, void, undefined> {
    const hasEnded = !UNFINISHED.includes(status);
    for (let from = 0; ; from += PAGE_CHUNKS) {
      const page = await store.chunkResults(jobId, from, PAGE_CHUNKS);
      for (const [at, chunk] of page.entries()) {
        if (chunk.n !== from + at) throw erased();
        if (chunk.rowsDone > 0) yield chunk;
        if (chunk.rowsDone < chunk.rows && !hasEnded) return;
      }
      if (page.length === PAGE_CHUNKS) continue;
      if (from + page.length < chunkCount) throw erased();
      return;
    }
  }

  function render(job: Job, { format, filter }: ResultsRequest, signal: AbortSignal) {
    return async ({ n, firstRow, form }: ChunkResults): Promise<RenderedResults> => {
      const input = format === "csv" && job.table !== null ? await store.inputBody(job.jobId, n) : null;
      const bodies = await store.resultBodies(job.jobId, n);
      if (bodies.length === 0 || (input === null && format === "csv" && job.table !== null)) throw erased();
      using _hurried = pace?.hurry();
      return await pool.runTwice(
        "renderJobResults",
        {
          format,
          filter,
          task: taskOf(job.kind, job.options),
          table: job.table,
          firstRow,
          bodies: bodies.map((body) => new Uint8Array(body)),
          input: input === null ? null : { form: recordFormOf(form), body: new Uint8Array(input) },
        },
        { share: { tenant: job.accountId, weight: INTERACTIVE_WEIGHT }, signal },
      );
    };
  }

  async function measure(job: Job): Promise<readonly number[]> {
    const request = { format: "csv", filter: UNFILTERED, fromByte: 0 } as const;
    // Shared by all callers, so that none of them can abort it.
    const rendered = mapConcurrently(
      finished(job),
      () => CHUNKS_AHEAD,
      render(job, request, new AbortController().signal),
    );
    const bytes: number[] = [];
    for await (const chunk of rendered) bytes.push(chunk.bytes.byteLength);
    return bytes;
  }

  async function* chunkBytes(job: Job, format: ResultFormat, enter: Entry | null): ChunkBytes {
    if (format === "csv") yield* await csvLengths.of(job, enter);
    else for await (const chunk of finished(job)) yield bytesOf(chunk);
  }

  /** Yields the download from a byte on. Whole chunks before it are skipped, except in JSON, which ends with a count of rows. */
  async function* fromByte(job: Job, request: ResultsRequest, signal: AbortSignal) {
    const { format } = request;
    const fromRowByte = request.fromByte - startOf(job, format).byteLength;
    const passed =
      format === "json" || fromRowByte <= 0
        ? { chunks: 0, bytes: 0 }
        : // Who reads holds a place already.
          await chunksBefore(chunkBytes(job, format, null), fromRowByte);
    // What precedes the rows is skipped with the first chunk.
    let skip = passed.chunks === 0 ? request.fromByte : fromRowByte - passed.bytes;
    for await (const bytes of whole(job, request, passed.chunks, signal)) {
      if (skip >= bytes.byteLength) skip -= bytes.byteLength;
      else {
        yield skip === 0 ? bytes : bytes.subarray(skip);
        skip = 0;
      }
    }
  }

  async function* whole(job: Job, request: ResultsRequest, chunksPassed: number, signal: AbortSignal) {
    const { format } = request;
    if (chunksPassed === 0 && format !== "ndjson") yield startOf(job, format);
    let rows = 0;
    // The last comma of a JSON list is written only once more rows follow.
    let held: Uint8Array | null = null;
    const chunks = mapConcurrently(
      skipFirst(finished(job), chunksPassed),
      () => CHUNKS_AHEAD,
      render(job, request, signal),
    );
    for await (const rendered of chunks) {
      rows += rendered.rows;
      if (rendered.rows === 0) continue;
      if (held !== null) yield held;
      if (format === "json") held = rendered.bytes;
      else yield rendered.bytes;
    }
    if (held !== null) yield held.subarray(0, -1);
    if (format === "json") yield new TextEncoder().encode(jsonEnd(rows));
  }

  return {
    read: fromByte,
    async length(job, format, enter) {
      let bytes = startOf(job, format).byteLength;
      for await (const chunk of chunkBytes(job, format, enter)) bytes += chunk;
      if (format !== "json") return bytes;
      let rows = 0;
      for await (const chunk of finished(job)) rows += chunk.rowsDone;
      return bytes - (rows > 0 ? 1 : 0) + jsonEnd(rows).length;
    },
  };
}

/** The job was deleted, or its retention ended: the download breaks off rather than end as if it were whole. */
function erased(): ApiError {
  return new ApiError("gone", "The results were erased while they were read.");
}

/** Returns what precedes the rows. */
function startOf(job: Job, format: ResultFormat): Uint8Array {
  const csv = () => csvHeader(taskOf(job.kind, job.options), job.table);
  return new TextEncoder().encode({ csv, json: () => JSON_START, ndjson: () => "" }[format]());
}

const jsonEnd = (rows: number): string => `],"count":${rows}}`;
