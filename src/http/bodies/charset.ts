import { ApiError } from "../../contract/errors.ts";
import { DecodingError, decoderFor } from "../../jobs/intake/decoding.ts";
import { isJson, mediaType } from "./request-body.ts";

type Charset = { readonly label: string; readonly encoding: string };

/**
 * Returns the charset that Content-Type names; null without one, and of JSON, which has none (RFC 8259). Throws
 * `invalid_request` where it is unknown.
 */
export function namedCharset(request: Request): string | null {
  return readCharset(request)?.label ?? null;
}

/** Returns the same, but null for UTF-8, which is read unless a byte order mark says otherwise. */
export function charsetOf(request: Request): string | null {
  const charset = readCharset(request);
  return charset === null || charset.encoding === "utf-8" ? null : charset.label;
}

function readCharset(request: Request): Charset | null {
  const header = request.headers.get("content-type") ?? "";
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(header) ?? [];
  const label = quoted ?? bare;
  if (label === undefined || isJson(mediaType(request))) return null;
  return { label, encoding: requireEncoding(label, "The charset of Content-Type") };
}

/** Returns the encoding of a label; throws `invalid_request` where it is unknown, before any of the input is read. */
export function requireEncoding(label: string, name?: string): string {
  try {
    return decoderFor(label, name).encoding;
  } catch (error) {
    throw error instanceof DecodingError ? new ApiError(error.refusal.code, error.message) : error;
  }
}
