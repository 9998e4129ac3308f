import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ByteReader } from "./byte-reader.ts";
import { createChunkDecoder } from "./chunk-decoder.ts";
import { OutgoingError } from "./failure.ts";
import type { ResponseHead } from "./response-head.ts";

/** How a body ends (RFC 9112, 6.3). */
export type Framing =
  | { readonly kind: "none" | "chunked" | "until_close" }
  | { readonly kind: "length"; readonly bytes: number };

type Reader = Pick<ByteReader, "readPart">;

const PART_BYTES_MAX = 65_536;

/** Determines how the body of a reply is framed. Throws OutgoingError where the head contradicts itself. */
export function framingOf(method: string, { status, headers }: ResponseHead): Framing {
  if (method === "HEAD" || status === 204 || status === 304) return { kind: "none" };
  const coding = headers.get("transfer-encoding");
  if (coding !== null) {
    if (coding.trim().toLowerCase() === "chunked") return { kind: "chunked" };
    throw new OutgoingError("bad_response", "unasked transfer coding");
  }
  const lengths = headers.get("content-length");
  if (lengths === null) return { kind: "until_close" };
  const [length = "", ...others] = lengths.split(",").map((text) => text.trim());
  if (!/^\d{1,15}$/.test(length) || others.some((other) => other !== length)) {
    throw new OutgoingError("bad_response", "the length of the body cannot be read");
  }
  return { kind: "length", bytes: Number(length) };
}

/** Yields the bytes of a body as they come. Throws OutgoingError where it ends too soon. */
export async function* readFramed(reader: Reader, framing: Framing): AsyncGenerator<Uint8Array> {
  if (framing.kind === "length") yield* readExactly(reader, framing.bytes);
  else if (framing.kind === "chunked") yield* readChunks(reader);
  else if (framing.kind === "until_close") {
    for (let part = await reader.readPart(PART_BYTES_MAX); part !== null; ) {
      yield part;
      part = await reader.readPart(PART_BYTES_MAX);
    }
  }
}

async function* readExactly(reader: Reader, bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; ) {
    const part = await reader.readPart(Math.min(left, PART_BYTES_MAX));
    if (part === null) throw new OutgoingError("body_incomplete", `${left} of ${bytes} bytes are missing`);
    left -= part.length;
    yield part;
  }
}

async function* readChunks(reader: Reader): AsyncGenerator<Uint8Array> {
  const decoder = createChunkDecoder();
  while (!decoder.isDone()) {
    const part = await reader.readPart(PART_BYTES_MAX);
    if (part === null) throw new OutgoingError("body_incomplete", "the last chunk is missing");
    const data = decoder.push(part);
    if (data.length > 0) yield data;
  }
}

/** Decodes gzip where the reply names it. Throws OutgoingError for any other coding. */
export async function* decode(raw: AsyncGenerator<Uint8Array>, headers: Headers): AsyncGenerator<Uint8Array> {
  const coding = (headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity") return yield* raw;
  if (coding !== "gzip" && coding !== "x-gzip") {
    throw new OutgoingError("bad_encoding", `unasked content coding ${coding.slice(0, 40)}`);
  }
  yield* inflated(raw);
}

/** Inflates piece by piece, so that the output is counted before more of it is produced. */
async function* inflated(raw: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(raw), gunzip, () => {});
  try {
    for await (const part of gunzip) yield part as Uint8Array;
  } catch (cause) {
    throw cause instanceof OutgoingError
      ? cause
      : new OutgoingError("bad_encoding", "broken gzip", { cause });
  } finally {
    gunzip.destroy();
  }
}

/** Yields the bytes; throws OutgoingError past `bytesMax`. `end` is called once the consumer stops. */
export async function* limited(
  parts: AsyncGenerator<Uint8Array>,
  bytesMax: number,
  kind = "",
  end: () => void = () => {},
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const part of parts) {
      const left = bytesMax - bytes;
      bytes += part.length;
      if (bytes <= bytesMax) yield part;
      else {
        if (left > 0) yield part.subarray(0, left);
        throw tooLarge(bytesMax, kind);
      }
    }
  } finally {
    end();
  }
}

/** Returns the error of a body with more bytes than are allowed; `kind` says which bytes are counted. */
export function tooLarge(bytesMax: number, kind = ""): OutgoingError {
  return new OutgoingError("body_too_large", `the body passes ${bytesMax} bytes${kind}`);
}
