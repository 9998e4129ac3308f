import { ApiError } from "../../contract/errors.ts";
import { queryReader } from "../../contract/schema.ts";
import { jobResults } from "../../contract/specification/jobs/job-results.ts";
import { EMAIL_SUB_STATUSES, SUMMARY_WORDS } from "../../contract/words.ts";
import type { Job } from "../../jobs/job.ts";
import type { ResultFilter, ResultFormat } from "../../jobs/results/result-rendering.ts";
import type { JobResults } from "../../jobs/results/results.ts";
import { byteStream, unsentBody } from "../bodies/byte-stream.ts";
import type { Call } from "../call.ts";
import { isCalledOff, stopWhenGone } from "../departure.ts";
import { isCurrent } from "../negotiation.ts";
import { JSON_TYPE, type Reply } from "../reply.ts";
import { askedRange, limited, rangeWithin } from "./byte-range.ts";
import type { DownloadShares } from "./download-shares.ts";
import { type KeyWatch, whileKeyWorks } from "./key-watch.ts";

const TYPES: { readonly [format in ResultFormat]: string } = {
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** Reads the query of a download; throws `invalid_request`. */
export const readResultsQuery = queryReader(jobResults);

export type DownloadDependencies = KeyWatch & {
  readonly results: JobResults;
  readonly downloads: DownloadShares;
  readonly readerStallMs: number;
};

/**
 * Returns the results of a job in the form of the query, from the byte that `Range` names. Throws `overloaded` over the
 * account's share of downloads.
 */
export async function downloadOf(
  call: Call,
  job: Job,
  { format = "ndjson", status, sub_status, only }: ReturnType<typeof readResultsQuery>,
  { results, downloads, readerStallMs, guard, clock }: DownloadDependencies,
): Promise<Reply> {
  const filter: ResultFilter = {
    statuses: wordsOf({ status, only }, SUMMARY_WORDS[job.kind]),
    subStatuses: job.kind === "email" ? wordsOf({ sub_status }, EMAIL_SUB_STATUSES) : noSubStatus(sub_status),
  };
  if (job.status === "receiving") throw new ApiError("job_not_ready", "The job is still being received.");
  if (job.erasedAt !== null) throw new ApiError("gone");
  const isComplete = job.status === "completed";
  const isFinal = isComplete || job.status === "cancelled";
  const isUnfiltered = filter.statuses === null && filter.subStatuses === null;
  /** Its length is known before it is read, so that bytes of it can be asked for. */
  const isMeasurable = isFinal && isUnfiltered;
  const etag = `"${job.jobId}-${format}-${Bun.hash.xxHash32(JSON.stringify(filter)).toString(36)}"`;
  const headers: { [name: string]: string } = {
    "Content-Type": TYPES[format],
    "X-Job-Complete": `${isComplete}`,
    ...(isFinal ? { ETag: etag } : { "Cache-Control": "no-store" }),
    ...(isMeasurable ? { "Accept-Ranges": "bytes" } : {}),
  };
  if (isFinal && isCurrent(call.request, etag)) return { status: 304, body: null, headers };
  call.suspendIdleTimeout(readerStallMs);
  const measured = () => results.length(job, format, () => downloads.enter(job.accountId));
  if (call.request.method === "HEAD") {
    if (!isMeasurable) return { status: 200, body: unsentBody(), headers };
    const length = await measured();
    return { status: 200, body: null, headers: { ...headers, ...AS_IS, "Content-Length": `${length}` } };
  }
  const stop = new AbortController();
  const read = (fromByte: number) => results.read(job, { format, filter, fromByte }, stop.signal);
  const asked = isMeasurable ? askedRange(call.request, etag) : null;
  const common = { tenant: job.accountId, downloads, stop, readerStallMs, guard, clock };
  if (asked === null) return sent(call, { ...common, status: 200, headers, source: read(0) });
  const length = await measured();
  const range = rangeWithin(asked, length);
  if (range === "unsatisfiable") return unsatisfiable(headers, length);
  const { first, last } = range;
  return sent(call, {
    ...common,
    status: 206,
    headers: { ...headers, ...AS_IS, "Content-Range": `bytes ${first}-${last}/${length}` },
    source: limited(read(first), last - first + 1),
  });
}

/** Returns the 416 of a range beyond the results. */
function unsatisfiable(headers: Reply["headers"], length: number): Reply {
  const { code, message } = new ApiError(
    "invalid_request",
    `Range names no byte of the ${length} there are.`,
  );
  return {
    status: 416,
    body: JSON.stringify({ error: { code, message } }),
    headers: { ...headers, "Content-Type": JSON_TYPE, "Content-Range": `bytes */${length}` },
  };
}

/** For replies that are never compressed, though others of the same path are. */
const AS_IS = { Vary: "Accept-Encoding" };

type Download = Omit<DownloadDependencies, "results"> & {
  readonly tenant: string;
  readonly status: number;
  readonly headers: Reply["headers"] & {};
  readonly source: AsyncGenerator<Uint8Array, void, undefined>;
  readonly stop: AbortController;
};

/** Up to this size a download is one buffer with a `Content-Length`, which a stream cannot have. */
const WHOLE_BYTES_MAX = 2_097_152;

async function sent(call: Call, download: Download): Promise<Reply> {
  const { tenant, downloads, status, headers, source, stop, readerStallMs } = download;
  using place = new DisposableStack();
  place.use(downloads.enter(tenant));
  const first: Uint8Array[] = [];
  // A filter may skip millions of rows before the first result: stop reading them once the caller has left.
  place.use(stopWhenGone(call.request, stop));
  try {
    for (let bytes = 0; bytes <= WHOLE_BYTES_MAX; ) {
      const { done, value } = await source.next();
      if (done === true && !downloads.mayBeWhole(tenant, bytes)) break;
      if (done === true) return { status, headers, body: Buffer.concat(first) };
      first.push(value);
      bytes += value.byteLength;
    }
  } catch (error) {
    if (!isCalledOff(stop.signal, error)) throw error;
    call.streaming = true;
    call.finish(status, "cut");
    return { status, body: "" };
  }
  call.streaming = true;
  const held = place.move();
  const body = byteStream(whileKeyWorks(followed(first, source), call, download), {
    stallMs: readerStallMs,
    onError(error) {
      // A job or a key that was deleted, or a reader that left, is no fault.
      if (!(error instanceof ApiError) && !isCalledOff(stop.signal, error)) call.reportError(error);
    },
    onEnd(isRead) {
      held.dispose();
      stop.abort();
      call.finish(status, isRead ? "complete" : "cut");
    },
  });
  return { status, body, headers };
}

async function* followed(
  first: Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let next = first.shift(); next !== undefined; next = first.shift()) yield next;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** Returns the words that the parameters of these names choose; null without any, which filters nothing. */
function wordsOf(
  parameters: { readonly [name: string]: string | undefined },
  known: readonly string[],
): readonly string[] | null {
  const words: string[] = [];
  for (const [name, text] of Object.entries(parameters)) {
    if (text === undefined || text === "") continue;
    const chosen = text.split(",");
    if (chosen.some((word) => !known.includes(word))) {
      throw new ApiError(
        "invalid_request",
        `${name} must be one or more of ${known.join(", ")} between commas.`,
      );
    }
    words.push(...chosen);
  }
  return words.length === 0 ? null : words;
}

function noSubStatus(text: string | undefined): null {
  if (text === undefined) return null;
  throw new ApiError("invalid_request", "sub_status is a field of addresses alone.");
}
