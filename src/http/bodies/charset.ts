import { ApiError } from "../../contract/errors.ts";
import { DecodingError, decoderFor } from "../../jobs/intake/decoding.ts";
import { isJson, mediaType } from "./request-body.ts";

/**
 * Returns the charset that Content-Type names; null without one, and of JSON, which has none (RFC 8259). Throws
 * `invalid_request` where it is unknown.
 */
export function namedCharset(request: Request): string | null {
  const header = request.headers.get("content-type") ?? "";
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(header) ?? [];
  const charset = quoted ?? bare;
  if (charset === undefined || isJson(mediaType(request))) return null;
  requireEncoding(charset, "The charset of Content-Type");
  return charset;
}

/** Returns the same, but null for UTF-8, which is read unless a byte order mark says otherwise. */
export function charsetOf(request: Request): string | null {
  const charset = namedCharset(request);
  return charset === null || requireEncoding(charset) === "utf-8" ? null : charset;
}

/** Returns the encoding of a label; throws `invalid_request` where it is unknown, before any of the input is read. */
export function requireEncoding(label: string, name?: string): string {
  try {
    return decoderFor(label, name).encoding;
  } catch (error) {
    throw error instanceof DecodingError ? new ApiError(error.refusal.code, error.message) : error;
  }
}
