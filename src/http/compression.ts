import { promisify } from "node:util";
import {
  constants,
  createGzip,
  createZstdCompress,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from "node:zlib";
import type { ChunkEncoding } from "../batch/messages.ts";
import { zlibStream } from "./bodies/zlib-stream.ts";
import { weightOf } from "./negotiation.ts";
import type { Reply } from "./reply.ts";

/** The content encoding of a reply, chosen by `Accept-Encoding`. */
export type ReplyEncoding = ChunkEncoding;

/** Smaller replies are not compressed: that would save no packet. */
const COMPRESSED_BYTES_MIN = 1024;
/** Up to this size a reply is compressed on the main thread, in under a millisecond. */
const INLINE_BYTES_MAX = 32_768;
/** Most bytes of a UTF-16 unit in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;
/** Results are repetitive: level 1 brings them to a tenth at 780 MB/s, level 2 takes a third longer. */
const GZIP_OPTIONS = { level: 1 };
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const gzipLater = promisify(gzip);
const zstdLater = promisify(zstdCompress);

/**
 * Returns the encoding that `Accept-Encoding` asks for, null for none. Of equal weights gzip wins, as every client that
 * names it supports it.
 */
export function replyEncoding(request: Request): ReplyEncoding | null {
  const accept = request.headers.get("accept-encoding");
  if (accept === null) return null;
  const gzipWeight = weightOf(accept, "gzip");
  // A client that sends `*` may not support it.
  const zstdWeight = /\bzstd\b/i.test(accept) ? weightOf(accept, "zstd") : 0;
  const weight = Math.max(gzipWeight, zstdWeight);
  const asIs = /\bidentity\b/i.test(accept) ? weightOf(accept, "identity") : 0;
  if (weight <= 0 || asIs > weight) return null;
  return zstdWeight > gzipWeight ? "zstd" : "gzip";
}

/**
 * Whether `compressed` may compress the reply: it is large enough, not encoded by its handler, without `no-transform`, and
 * not a range, whose bytes are those of the identity encoding.
 */
export function mayBeCompressed({ body, status, headers = {}, isNegotiated }: Reply): boolean {
  if (status === 206 || isNegotiated === true) return false;
  if (headers["Content-Encoding"] !== undefined) return false;
  if (headers["Cache-Control"]?.includes("no-transform") === true) return false;
  if (body === null) return status === 304 && headers.ETag !== undefined && !goesByEncoding(headers.Vary);
  if (body instanceof ReadableStream) return true;
  if (body instanceof Blob) return body.size >= COMPRESSED_BYTES_MIN;
  if (typeof body !== "string") return body.byteLength >= COMPRESSED_BYTES_MIN;
  if (body.length >= COMPRESSED_BYTES_MIN) return true;
  return (
    body.length * BYTES_PER_UNIT_MAX >= COMPRESSED_BYTES_MIN &&
    Buffer.byteLength(body) >= COMPRESSED_BYTES_MIN
  );
}

/**
 * Returns the reply in the encoding that the caller accepts. A compressed body is no longer the same byte for byte, so its
 * `ETag` becomes weak, and that of a 304 with it.
 */
export async function compressed(reply: Reply, request: Request): Promise<Reply> {
  const encoding = replyEncoding(request);
  const { body, headers = {} } = reply;
  const varied = { ...headers, Vary: withAcceptEncoding(headers.Vary) };
  if (encoding === null) return { ...reply, headers: varied };
  const weak = headers.ETag === undefined ? {} : { ETag: headers.ETag.replace(/^(?!W\/)/, "W/") };
  if (body === null) return { ...reply, headers: { ...varied, ...weak } };
  return {
    ...reply,
    body: await packed(body, encoding),
    headers: { ...varied, ...weak, "Content-Encoding": encoding },
  };
}

function goesByEncoding(vary = ""): boolean {
  return /\baccept-encoding\b/i.test(vary);
}

function withAcceptEncoding(vary: string | undefined): string {
  if (vary !== undefined && goesByEncoding(vary)) return vary;
  return vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`;
}

async function packed(
  body: NonNullable<Reply["body"]>,
  encoding: ReplyEncoding,
): Promise<Exclude<Reply["body"], null>> {
  if (body instanceof Blob) return packedStream(body.stream(), encoding, "whole");
  if (body instanceof ReadableStream) return packedStream(body, encoding, "part by part");
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.byteLength <= INLINE_BYTES_MAX) {
    return encoding === "gzip" ? gzipSync(bytes, GZIP_OPTIONS) : zstdCompressSync(bytes, ZSTD_OPTIONS);
  }
  return encoding === "gzip" ? await gzipLater(bytes, GZIP_OPTIONS) : await zstdLater(bytes, ZSTD_OPTIONS);
}

function packedStream(
  source: ReadableStream<Uint8Array>,
  encoding: ReplyEncoding,
  way: "whole" | "part by part",
): ReadableStream<Uint8Array> {
  const isGzip = encoding === "gzip";
  const flush = isGzip ? constants.Z_SYNC_FLUSH : constants.ZSTD_e_flush;
  const transform = isGzip ? createGzip(GZIP_OPTIONS) : createZstdCompress(ZSTD_OPTIONS);
  return zlibStream(source, transform, way === "whole" ? undefined : flush);
}
