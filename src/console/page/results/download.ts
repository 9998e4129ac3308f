import type { Api } from "../wire/api.ts";
import { unbroken } from "../wire/refusal.ts";
import { createDomainLines, createDomainRecords } from "./domain-rows.ts";
import { type Filter, queryOf } from "./filter.ts";
import { createFormulaGuard } from "./formulas.ts";
import { eachOf, resultsOf } from "./ndjson-results.ts";

export type DownloadForm = "csv" | "spreadsheet" | "ndjson";

/** Pieces of this size are given to the browser, which keeps large ones on the disk. */
const PIECE_BYTES = 8_388_608;

export type Download = {
  readonly jobId: string;
  readonly name: string;
  readonly form: DownloadForm;
  readonly filter: Filter;
  readonly onBytes: (bytes: number) => void;
  /** Offers the file to be kept. */
  readonly offer: (file: Blob, name: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads the results of a list into a file, piece by piece, and offers it to be kept. Returns whether the list was
 * complete; else the file has what was finished by then. Throws Refusal, Unreachable, or the reason of the signal.
 */
export async function download(api: Api, { signal, ...options }: Download): Promise<boolean> {
  // Where one of two replies ends early, the other is not left open.
  const own = new AbortController();
  try {
    return await downloadUntil(api, { ...options, signal: AbortSignal.any([signal, own.signal]) });
  } finally {
    own.abort();
  }
}

async function downloadUntil(api: Api, options: Download): Promise<boolean> {
  const { jobId, name, form, filter, onBytes, offer, signal } = options;
  const format = form === "ndjson" ? "ndjson" : "csv";
  const read = (wanted: string) =>
    api.open(`/v1/jobs/${jobId}/results?${queryOf(filter, wanted)}`, { headers: { Accept: "*/*" }, signal });
  const reply = await read(format);
  const type = reply.headers.get("Content-Type") ?? "text/plain";
  const stream = rewritten(reply, await rewritings(form, filter, () => read("ndjson")));
  const blobs: Blob[] = [];
  let piece: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  let bytes = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await unbroken(reader.read());
    if (done) break;
    piece.push(value);
    pieceBytes += value.byteLength;
    bytes += value.byteLength;
    if (pieceBytes >= PIECE_BYTES) {
      blobs.push(new Blob(piece));
      piece = [];
      pieceBytes = 0;
      onBytes(bytes);
    }
  }
  signal.throwIfAborted();
  onBytes(bytes);
  offer(new Blob([...blobs, ...piece], { type }), `${name.replace(/\.\w+$/, "")}-results.${format}`);
  return reply.headers.get("X-Job-Complete") !== "false";
}

/** Rewrites a text that comes in pieces. */
type Rewriting = (piece: string, isLast: boolean) => string | Promise<string>;

/** Returns the rewrites that the server does not do for this download, in order; none where its bytes are right. */
async function rewritings(
  form: DownloadForm,
  { domain }: Filter,
  readResults: () => Promise<Response>,
): Promise<readonly Rewriting[]> {
  const all: Rewriting[] = [];
  if (domain !== "" && form === "ndjson") all.push(createDomainLines(domain));
  if (domain !== "" && form !== "ndjson") {
    all.push(createDomainRecords(domain, eachOf(resultsOf(await readResults()))));
  }
  if (form === "spreadsheet") all.push(createFormulaGuard());
  return all;
}

function rewritten(reply: Response, all: readonly Rewriting[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const body = reply.body ?? new ReadableStream();
  if (all.length === 0) return body;
  let texts: ReadableStream<string> = body.pipeThrough(new TextDecoderStream("utf-8", { ignoreBOM: true }));
  for (const rewrite of all) {
    texts = texts.pipeThrough(
      new TransformStream<string, string>({
        transform: async (text, controller) => controller.enqueue(await rewrite(text, false)),
        flush: async (controller) => controller.enqueue(await rewrite("", true)),
      }),
    );
  }
  return texts.pipeThrough(new TextEncoderStream());
}
