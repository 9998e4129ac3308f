import { ApiError } from "../contract/errors.ts";
import { queryReader } from "../contract/schema.ts";
import { jobResults } from "../contract/specification/job-results.ts";
import type { Job } from "../jobs/job.ts";
import { SUMMARY_WORDS } from "../jobs/job-view.ts";
import type { ResultFilter, ResultFormat } from "../jobs/result-rendering.ts";
import type { JobResults } from "../jobs/results.ts";
import type { Call } from "./boundary.ts";
import { byteStream } from "./byte-stream.ts";
import { isCurrent } from "./negotiation.ts";
import type { Reply } from "./reply.ts";

const TYPES: { readonly [format in ResultFormat]: string } = {
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** Reads what is asked of the results; throws `invalid_request`. */
export const readResultsQuery = queryReader(jobResults);

/** The results of a job as the query asks for them, from the byte that `Range` names. */
export async function downloadOf(
  call: Call,
  job: Job,
  { format = "ndjson", status, sub_status, only }: ReturnType<typeof readResultsQuery>,
  { results, readerStallMs }: { readonly results: JobResults; readonly readerStallMs: number },
): Promise<Reply> {
  if (job.status === "receiving") throw new ApiError("job_not_ready", "The job is still being received.");
  if (job.erasedAt !== null) throw new ApiError("gone");
  const filter: ResultFilter = {
    statuses: wordsOf("status", [status, only], SUMMARY_WORDS[job.kind]),
    subStatuses: job.kind === "email" ? wordsOf("sub_status", [sub_status], null) : noSubStatus(sub_status),
  };
  const isComplete = job.status === "completed";
  const isWhole = filter.statuses === null && filter.subStatuses === null;
  const etag = `"${job.jobId}-${format}-${Bun.hash.xxHash32(JSON.stringify(filter)).toString(36)}"`;
  const headers: { [name: string]: string } = {
    "Content-Type": TYPES[format],
    "X-Job-Complete": `${isComplete}`,
    ...(isComplete ? { ETag: etag } : { "Cache-Control": "no-store" }),
  };
  if (isComplete && isCurrent(call.request, etag)) {
    return { status: 304, body: null, headers };
  }
  const length = isComplete && isWhole ? await results.length(job, format) : null;
  const range = length === null ? null : rangeOf(call.request, length, etag);
  if (length !== null) headers["Accept-Ranges"] = "bytes";
  if (range === "unsatisfiable") {
    return { status: 416, body: null, headers: { ...headers, "Content-Range": `bytes */${length}` } };
  }
  const fromByte = range?.first ?? 0;
  const bytes = range === null ? length : range.last - range.first + 1;
  if (bytes !== null) headers["Content-Length"] = `${bytes}`;
  if (range !== null) headers["Content-Range"] = `bytes ${range.first}-${range.last}/${length}`;
  const statusCode = range === null ? 200 : 206;
  call.suspendIdleTimeout(readerStallMs);
  call.streaming = true;
  const stop = new AbortController();
  const source = results.read(job, { format, filter, fromByte }, stop.signal);
  const body = byteStream(bytes === null ? source : limited(source, bytes), {
    stallMs: readerStallMs,
    onError: call.reportError,
    onEnd(isRead) {
      stop.abort();
      call.finish(statusCode, isRead ? "complete" : "cut");
    },
  });
  return { status: statusCode, body, headers };
}

function wordsOf(
  name: string,
  texts: readonly (string | undefined)[],
  known: readonly string[] | null,
): readonly string[] | null {
  const words = texts.flatMap((text) => (text === undefined || text === "" ? [] : text.split(",")));
  const wrong = known === null ? undefined : words.find((word) => !known.includes(word));
  if (wrong !== undefined) {
    throw new ApiError(
      "invalid_request",
      `${name} must be one or more of ${known?.join(", ")} between commas.`,
    );
  }
  return words.length === 0 ? null : words;
}

function noSubStatus(text: string | undefined): null {
  if (text === undefined) return null;
  throw new ApiError("invalid_request", "sub_status is a field of addresses alone.");
}

type ByteRange = { readonly first: number; readonly last: number };

/** One range of bytes; null where there is none, or one of another form, which is passed over (RFC 9110). */
function rangeOf(request: Request, length: number, etag: string): ByteRange | "unsatisfiable" | null {
  const header = request.headers.get("range");
  const ifRange = request.headers.get("if-range");
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (parts === null || (ifRange !== null && ifRange !== etag)) return null;
  const [, from = "", to = ""] = parts;
  if (from === "" && to === "") return null;
  const first = from === "" ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === "" || to === "" ? length - 1 : Math.min(Number(to), length - 1);
  if (first > last || first >= length) return "unsatisfiable";
  return { first, last };
}

async function* limited(
  source: AsyncGenerator<Uint8Array, void, undefined>,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = bytes;
  for await (const piece of source) {
    yield left < piece.byteLength ? piece.subarray(0, left) : piece;
    left -= piece.byteLength;
    if (left <= 0) return;
  }
}
