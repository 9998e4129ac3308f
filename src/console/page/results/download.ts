import type { Api } from "../wire/api.ts";
import type { ResultRow } from "../wire/bodies.ts";
import { type Filter, isOfDomain, queryOf } from "./filter.ts";
import { createFormulaGuard } from "./formulas.ts";

export type DownloadForm = "csv" | "spreadsheet" | "ndjson";

/** Pieces of this size are given to the browser, which keeps large ones on the disk. */
const PIECE_BYTES = 8_388_608;

/** Reads the results of a list into a file, piece by piece, and offers it to be kept. */
export async function download(
  api: Api,
  options: {
    readonly jobId: string;
    readonly name: string;
    readonly form: DownloadForm;
    readonly filter: Filter;
    readonly onBytes: (bytes: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { jobId, name, form, filter, onBytes, signal } = options;
  const format = form === "ndjson" ? "ndjson" : "csv";
  const reply = await api.open(`/v1/jobs/${jobId}/results?${queryOf(filter, format)}`, {
    headers: { Accept: "*/*" },
    signal,
  });
  const type = reply.headers.get("Content-Type") ?? "text/plain";
  const stream = rewritten(reply, form, filter);
  const blobs: Blob[] = [];
  let piece: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  let bytes = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
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
  onBytes(bytes);
  offer(new Blob([...blobs, ...piece], { type }), `${name.replace(/\.\w+$/, "")}-results.${format}`);
}

/** The reply as it came, or rewritten line by line. */
function rewritten(
  reply: Response,
  form: DownloadForm,
  { domain }: Filter,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const body = reply.body ?? new ReadableStream();
  if (form === "csv" || (form === "ndjson" && domain === "")) return body;
  const texts = body.pipeThrough(new TextDecoderStream("utf-8", { ignoreBOM: true }));
  const transform = form === "spreadsheet" ? createFormulaGuard() : createDomainLines(domain);
  return texts
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(transform(text, false)),
        flush: (controller) => controller.enqueue(transform("", true)),
      }),
    )
    .pipeThrough(new TextEncoderStream());
}

function createDomainLines(domain: string): (piece: string, isLast: boolean) => string {
  let rest = "";
  return (piece, isLast) => {
    const lines = (rest + piece).split("\n");
    rest = isLast ? "" : (lines.pop() ?? "");
    return lines
      .filter((line) => line !== "" && isOfDomain(JSON.parse(line) as ResultRow, domain))
      .map((line) => `${line}\n`)
      .join("");
  };
}

const KEPT_MS = 60_000;

function offer(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
