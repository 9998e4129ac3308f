import { writeFeedCursor } from "../../directory/cursor.ts";
import type { Directory } from "../../directory/directory.ts";
import type { View } from "../../directory/directory-health.ts";
import { exportBytes, exportParts } from "../../directory/export.ts";
import type { ExportForm } from "../../directory/sync/syncer.ts";
import { byteStream, unsentBody } from "../bodies/byte-stream.ts";
import type { Call } from "../call.ts";
import { replyEncoding } from "../compression.ts";
import { isCurrent, weightOf } from "../negotiation.ts";
import { NDJSON_TYPE, type Reply } from "../reply.ts";
import { digestStart, freshnessHeaders } from "./directory-freshness.ts";

/** All listings: from memory, part by part, or the compressed body that all callers share. */
export async function answerExport(
  call: Call,
  view: View,
  { directory, readerStallMs }: { readonly directory: Directory; readonly readerStallMs: number },
): Promise<Reply> {
  const { request } = call;
  const { snapshot } = view;
  const form = exportForm(request.headers.get("accept") ?? "");
  const encoding = replyEncoding(request);
  const takesGzip = encoding === "gzip";
  const tag = `v${snapshot.version}-${digestStart(view)}${form === "json" ? "-json" : ""}`;
  const headers: { [name: string]: string } = {
    ...freshnessHeaders(view),
    "Content-Type": form === "json" ? "application/json; charset=utf-8" : NDJSON_TYPE,
    Vary: "Accept, Accept-Encoding",
    ETag: `"${tag}"`,
    "X-Directory-Epoch": snapshot.feed.epoch,
    "X-Directory-Version": `${snapshot.version}`,
    "X-Directory-Cursor": writeFeedCursor(snapshot.feed),
    "X-Directory-Count": `${snapshot.count}`,
    ...(form === "ndjson" ? { "X-Directory-Digest": snapshot.digest } : {}),
  };
  if (isCurrent(request, `"${tag}"`, `"${tag}-gzip"`)) {
    if (takesGzip && isCurrent(request, `"${tag}-gzip"`)) headers.ETag = `"${tag}-gzip"`;
    return { status: 304, body: null, headers };
  }
  const compressed = takesGzip ? await directory.compressed(snapshot, form) : null;
  if (compressed !== null) {
    Object.assign(headers, { "Content-Encoding": "gzip", ETag: `"${tag}-gzip"` });
    return { status: 200, body: compressed, headers };
  }
  if (request.method === "HEAD" && encoding === null) {
    headers["Content-Length"] = `${exportBytes(snapshot, form)}`;
    return { status: 200, body: null, headers };
  }
  if (request.method === "HEAD") {
    Object.assign(headers, { "Content-Encoding": encoding, ETag: `W/"${tag}"` });
    return { status: 200, body: unsentBody(), headers };
  }
  call.streaming = true;
  const onEnd = (complete: boolean) => call.finish(200, complete ? "complete" : "cut");
  const parts = (async function* () {
    yield* exportParts(snapshot, form);
  })();
  return {
    status: 200,
    body: byteStream(parts, {
      stallMs: readerStallMs,
      onEnd,
      onError: (error: unknown) => call.reportError(error),
    }),
    headers,
  };
}

/** JSON lines, unless the caller would rather have JSON. */
function exportForm(accept: string): ExportForm {
  const ndjson = Math.max(weightOf(accept, "application/x-ndjson"), weightOf(accept, "application/ndjson"));
  return weightOf(accept, "application/json") > ndjson ? "json" : "ndjson";
}
