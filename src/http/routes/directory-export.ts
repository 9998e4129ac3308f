import { writeFeedCursor } from "../../directory/cursor.ts";
import type { Directory } from "../../directory/directory.ts";
import type { View } from "../../directory/directory-health.ts";
import { exportBytes, exportParts } from "../../directory/export.ts";
import type { ExportForm } from "../../directory/sync/syncer.ts";
import { slicesOf } from "../bodies/body-slices.ts";
import { unsentBody } from "../bodies/byte-stream.ts";
import type { Call } from "../call.ts";
import { clientAddressKey } from "../client-address-key.ts";
import { replyEncoding } from "../compression.ts";
import { isCurrent, weightOf } from "../negotiation.ts";
import { partsOf, placedStream } from "../placed-stream.ts";
import { createReaderPlaces, type EnterReader } from "../reader-places.ts";
import { NDJSON_TYPE, type Reply } from "../reply.ts";
import { digestStart, freshnessHeaders } from "./directory-freshness.ts";

export type ExportDependencies = {
  readonly directory: Pick<Directory, "compressed">;
  readonly readerStallMs: number;
  readonly enter: EnterReader;
};

/** Bounds the exports that client addresses read at a time. */
export function createExportPlaces(): EnterReader {
  return createReaderPlaces("This address reads the directory too often at once; end some readers first.");
}

/**
 * All listings: from memory, part by part, or the compressed body that all callers share. Throws `overloaded` over the
 * share of the client's address.
 */
export async function answerExport(
  call: Call,
  view: View,
  { directory, readerStallMs, enter }: ExportDependencies,
): Promise<Reply> {
  const { request } = call;
  const { snapshot } = view;
  const address = clientAddressKey(call.clientAddress());
  const form = exportForm(request.headers.get("accept") ?? "");
  const encoding = replyEncoding(request);
  const takesGzip = encoding === "gzip";
  const { tag, headers } = exportHead(view, form);
  if (isCurrent(request, `"${tag}"`, `"${tag}-gzip"`)) {
    if (takesGzip && isCurrent(request, `"${tag}-gzip"`)) headers.ETag = `"${tag}-gzip"`;
    return { status: 304, body: null, headers };
  }
  const compressed = takesGzip ? await directory.compressed(snapshot, form) : null;
  if (compressed !== null) Object.assign(headers, { "Content-Encoding": "gzip", ETag: `"${tag}-gzip"` });
  const bytes = compressed?.byteLength ?? exportBytes(snapshot, form);
  if (request.method === "HEAD" && compressed === null && encoding !== null) {
    Object.assign(headers, { "Content-Encoding": encoding, ETag: `W/"${tag}"` });
    return { status: 200, body: unsentBody(), headers };
  }
  if (request.method === "HEAD") {
    return { status: 200, body: null, headers: { ...headers, "Content-Length": `${bytes}` } };
  }
  // Sent whole, each connection would hold a copy of the compressed body.
  const parts = partsOf(compressed === null ? exportParts(snapshot, form) : slicesOf(compressed));
  const place = enter(address);
  const body = placedStream(call, parts, { status: 200, stallMs: readerStallMs, place });
  return { status: 200, body, headers };
}

function exportHead(view: View, form: ExportForm) {
  const { snapshot } = view;
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
  return { tag, headers };
}

/** JSON lines, unless the caller would rather have JSON. */
function exportForm(accept: string): ExportForm {
  const ndjson = Math.max(weightOf(accept, "application/x-ndjson"), weightOf(accept, "application/ndjson"));
  return weightOf(accept, "application/json") > ndjson ? "json" : "ndjson";
}
