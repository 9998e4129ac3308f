import { ApiError } from "../errors.ts";

/** What every route with a body says to the router: leave it, so that a stranger's is never read. */
export const BODY_UNREAD = { parse: "none" } as const;

/**
 * Reads a body of at most `bytesMax` bytes; throws `payload_too_large` as soon as it is known to be larger,
 * with the rest unread.
 */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax);
  if (declared !== null) return new Uint8Array(await request.arrayBuffer());
  return readUncounted(request, bytesMax);
}

/** Throws `unsupported_media_type` unless the body is said to be JSON. A call without a body need not say so. */
export function requireJson(request: Request): void {
  const type = mediaType(request);
  if (type === "" && isEmpty(request)) return;
  if (!isJson(type)) throw new ApiError("unsupported_media_type");
}

/** Parses JSON in UTF-8; an empty body reads as an empty object. Throws `invalid_json`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError("invalid_json");
  }
}

/** The media type of a request in lower case, without its parameters; empty where none is sent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

export function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

function isEmpty(request: Request): boolean {
  return request.headers.get("content-length") === "0" || request.body === null;
}

/** A body without a declared length is counted as it comes in. */
async function readUncounted(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body) {
    length += part.byteLength;
    if (length > bytesMax) throw tooLarge(bytesMax);
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("payload_too_large", `The body must be at most ${bytesMax} bytes.`);
}
