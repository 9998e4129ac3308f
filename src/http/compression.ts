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
import { streamOf, throughZlib } from "./bodies/zlib-stream.ts";
import { weightOf } from "./negotiation.ts";
import type { Reply } from "./reply.ts";

/** What a reply is packed with, because the caller asks for it. */
export type ReplyEncoding = ChunkEncoding;

/** Smaller replies leave as they are: packing them saves no packet. */
const COMPRESSED_BYTES_MIN = 1024;
/** Compressed where it stands, in under a millisecond; what is larger, outside the main thread. */
const INLINE_BYTES_MAX = 32_768;
/** No character of a string takes more bytes. */
const BYTES_PER_UNIT_MAX = 3;
/** Results repeat themselves: the first level brings them to a tenth at 780 MB/s, the second takes a third longer. */
const GZIP_OPTIONS = { level: 1 };
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const gzipLater = promisify(gzip);
const zstdLater = promisify(zstdCompress);

/**
 * Returns the encoding that `Accept-Encoding` asks for, null for none. Of equal weights gzip wins: everything that
 * names it reads it.
 */
export function replyEncoding(request: Request): ReplyEncoding | null {
  const accept = request.headers.get("accept-encoding");
  if (accept === null) return null;
  const gzipWeight = weightOf(accept, "gzip");
  // Who says `*` may not know of it.
  const zstdWeight = /\bzstd\b/i.test(accept) ? weightOf(accept, "zstd") : 0;
  const weight = Math.max(gzipWeight, zstdWeight);
  const asIs = /\bidentity\b/i.test(accept) ? weightOf(accept, "identity") : 0;
  if (weight <= 0 || asIs > weight) return null;
  return zstdWeight > gzipWeight ? "zstd" : "gzip";
}

/**
 * True where the reply is to be brought to `compressed`: it is large enough, and not packed by its handler, nor sent with
 * `no-transform`, nor a range, which counts the bytes as they are.
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
 * Returns the reply as the caller takes it. A packed body is no longer the same byte for byte, so that its
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
  return streamOf(throughZlib(source, transform, way === "whole" ? undefined : flush));
}
