import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { ApiError } from "../../contract/errors.ts";
import { bodySlices } from "./body-slices.ts";
import { throughZlib, type ZlibTransform } from "./zlib-stream.ts";
import { createZstdFrames } from "./zstd-frames.ts";

/** The content encoding of a request body; null for identity. */
export type BodyEncoding = "gzip" | "zstd" | "deflate";

const DECODED_PART_BYTES = 65_536;
/** The largest window that a sender may ask for (RFC 9659): 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23;

/** Returns the encoding of a request's body, null for none. Throws `unsupported_media_type` for any other. */
export function bodyEncoding(request: Request): BodyEncoding | null {
  const header = request.headers.get("content-encoding");
  if (header === null) return null;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return null;
  if (name === "x-gzip") return "gzip";
  if (name === "gzip" || name === "zstd" || name === "deflate") return name;
  const shown = JSON.stringify(header.slice(0, 40));
  throw new ApiError(
    "unsupported_media_type",
    `Content-Encoding ${shown} is not read: send the body with gzip, zstd, deflate or none.`,
  );
}

/** Bytes that may exceed the decoded ones: bounds a stream that decodes to nothing. Real data stays far below. */
const UNDECODED_BYTES_MAX = 1_048_576;

/** Resolves in the turn in which the next decoded part may be taken. */
export type DecodedTurn = () => Promise<unknown>;

/**
 * Yields a body decoded, in parts of at most 64 KiB, one in a `turn`, as fast as they are consumed. It is decoded outside
 * the main thread, and decoding ends when the consumer does. Throws `invalid_request` where the bytes are not of the
 * encoding, or exceed the decoded ones, or follow the end of the data, by over 1 MiB.
 */
export async function* decodedParts(
  body: AsyncIterable<Uint8Array>,
  encoding: BodyEncoding,
  turn: DecodedTurn = nextTurn,
): AsyncGenerator<Uint8Array, void, undefined> {
  const parts = bodySlices(body);
  const frames = encoding === "zstd" ? createZstdFrames() : null;
  let undecodedBytes = 0;
  let takenBytes = 0;
  const take = (part: Uint8Array) => {
    takenBytes += part.byteLength;
    undecodedBytes += part.byteLength;
    if (undecodedBytes > UNDECODED_BYTES_MAX) throw padded(encoding);
    frames?.take(part);
  };
  try {
    const first = await parts.next();
    if (first.done === true) return;
    const whole = followed(first.value, parts, take);
    const decoder = createDecoder(encoding, first.value);
    for await (const part of throughZlib(whole, decoder)) {
      undecodedBytes -= part.byteLength;
      yield part;
      // Otherwise parts that are decoded meanwhile, of this body and of others, would be taken in the same turn.
      if (part.byteLength === DECODED_PART_BYTES) await turn();
    }
    // A decoder ends with its data, and takes zero bytes behind them for padding: the body may go on without an end.
    undecodedBytes = 0;
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) take(next.value);
    // Inflating ignores what follows the end of its data: a second stream of rows would be lost silently.
    const isCutShort = encoding === "deflate" && decoder.bytesWritten < takenBytes;
    if (isCutShort || frames?.isAtEnd() === false) throw notOf(encoding);
  } catch (error) {
    throw isOfDecoder(error) ? notOf(encoding) : error;
  } finally {
    await parts.return();
  }
}

async function* followed(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
  take: (part: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  take(first);
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    take(next.value);
    yield next.value;
  }
}

function createDecoder(encoding: BodyEncoding, first: Uint8Array): ZlibTransform {
  const options = { chunkSize: DECODED_PART_BYTES };
  if (encoding === "gzip") return createGunzip(options);
  if (encoding === "zstd") {
    return createZstdDecompress({
      ...options,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    });
  }
  return hasZlibHeader(first) ? createInflate(options) : createInflateRaw(options);
}

/** `deflate` is the zlib format (RFC 9110); some senders omit its header. */
function hasZlibHeader([first = 0, second]: Uint8Array): boolean {
  return (first & 15) === 8 && (second === undefined || (first * 256 + second) % 31 === 0);
}

function isOfDecoder(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(?:Z_|ZSTD_)/.test(code);
}

function padded(encoding: BodyEncoding): ApiError {
  return new ApiError("invalid_request", `The body is ${encoding} data that hold next to nothing.`);
}

function notOf(encoding: BodyEncoding): ApiError {
  return new ApiError("invalid_request", `The body is not whole ${encoding} data, as Content-Encoding says.`);
}
