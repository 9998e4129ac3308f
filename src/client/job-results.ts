import { bytesOf } from "./body-lines.ts";
import { IncompleteReplyError, RefusedError } from "./failure.ts";
import type { ResultsOptions } from "./job-types.ts";
import { jobPath, REOPEN_MS, type Wait, watchJob } from "./job-watch.ts";
import type { Send } from "./transport.ts";
import type { JobResult } from "./types.ts";

const BREAKS_MAX = 4;
const LINE_END = 0x0a;
const RANGE_NOT_SATISFIABLE = 416;

/** The position of a download, from which a new connection resumes. */
type Place = { row: number; bytes: number; etag: string | null; received: number };

/**
 * Returns the results in the order of the input, each with its `row`. A connection that breaks is opened again where it
 * was left, at most four times without a result. Throws IncompleteReplyError.
 */
export async function* jobResults<Result>(
  send: Send,
  wait: Wait,
  jobId: string,
  options: ResultsOptions,
): AsyncGenerator<JobResult<Result>, void, undefined> {
  const { signal, status, sub_status, afterRow = 0, partial = false } = options;
  const isFiltered = status !== undefined || sub_status !== undefined;
  let rowsMin = 0;
  if (!partial) {
    for await (const job of watchJob(send, wait, jobId, { signal })) {
      rowsMin = job.status === "completed" && !isFiltered ? job.counts.rows : 0;
    }
  }
  const query = new URLSearchParams({ format: "ndjson" });
  if (status !== undefined) query.set("status", status);
  if (sub_status !== undefined) query.set("sub_status", sub_status);
  const path = `${jobPath(jobId)}/results?${query}`;
  const place: Place = { row: afterRow, bytes: 0, etag: null, received: 0 };
  for (let breaks = 0; ; breaks += 1) {
    const before = place.received;
    let failure: unknown = null;
    try {
      yield* readOn<Result>(send, path, place, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RefusedError) {
        if (error.status !== RANGE_NOT_SATISFIABLE) throw error;
      } else failure = error;
    }
    if (failure === null && place.row >= rowsMin) return;
    if (place.received > before) breaks = 0;
    if (breaks >= BREAKS_MAX) throw new IncompleteReplyError(place.received, { cause: failure });
    await wait(REOPEN_MS, signal);
  }
}

async function* readOn<Result>(
  send: Send,
  path: string,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobResult<Result>, void, undefined> {
  const headers: { [name: string]: string } =
    place.etag === null || place.bytes === 0
      ? {}
      : { Range: `bytes=${place.bytes}-`, "If-Range": place.etag };
  const options = { signal, accept: "application/x-ndjson", headers };
  const reply = await send("GET", path, options, async (opened) => opened);
  if (reply.status !== 206) place.bytes = 0;
  // Only an unfiltered download can be resumed at a byte; a compressed reply has a weak tag of the same bytes.
  const tag = reply.headers.get("etag")?.replace(/^W\//, "") ?? null;
  place.etag = reply.headers.has("accept-ranges") ? tag : null;
  for await (const { text, bytes } of wholeLines(reply)) {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const row = Number(/^\{"row":(\d+)/.exec(line)?.[1] ?? Number.NaN);
      // What came before the connection broke comes once more where it cannot be passed over by its bytes.
      if (row <= place.row) continue;
      const result: JobResult<Result> = JSON.parse(line);
      place.row = result.row;
      place.received += 1;
      yield result;
    }
    place.bytes += bytes;
  }
}

/** Returns the text up to the last line end that has arrived, and its bytes. */
async function* wholeLines(
  reply: Response,
): AsyncGenerator<{ readonly text: string; readonly bytes: number }, void, undefined> {
  const decoder = new TextDecoder();
  let rest: Uint8Array[] = [];
  for await (const piece of bytesOf(reply)) {
    const end = piece.lastIndexOf(LINE_END) + 1;
    if (end === 0) {
      rest.push(piece);
      continue;
    }
    const whole = concatenated([...rest, piece.subarray(0, end)]);
    rest = end === piece.byteLength ? [] : [piece.subarray(end)];
    yield { text: decoder.decode(whole), bytes: whole.byteLength };
  }
  if (rest.length > 0) throw new Error("the last line is cut off");
}

function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
