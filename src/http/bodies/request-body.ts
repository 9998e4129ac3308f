import { ApiError } from "../../contract/errors.ts";
import {
  parseJson as parseBounded,
  parseJsonInSteps as parseInSteps,
  TOO_DEEP,
  TOO_MANY_VALUES,
} from "../../platform/json-value.ts";
import type { Steps } from "../../platform/steps.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { bodySlices } from "./body-slices.ts";
import { bodyEncoding, type DecodedTurn, decodedParts } from "./content-encoding.ts";

/** Has the router leave the body unparsed, so that an unauthenticated one is never read. */
export const BODY_UNREAD = { parse: "none" } as const;

/** The largest body of routes other than batches. */
export const SMALL_BODY_BYTES_MAX = 131_072;

/**
 * Throws `unsupported_media_type` unless the body is said to be JSON. An empty one may have any type, as `curl -d ''` names
 * that of a form; whether one in chunks is empty is known when it has been read.
 */
export function requireJson(request: Request, body: Uint8Array): void {
  if (!isJson(mediaType(request)) && body.byteLength > 0) throw new ApiError("unsupported_media_type");
}

/** Values of a body that is parsed at once: as many names as the largest body holds take 10 ms of the main thread. */
const VALUES_MAX = 1_024;
/** Values of a body that is parsed in steps. */
const VALUES_IN_STEPS_MAX = 65_536;
const DEPTH_MAX = 512;

/**
 * Parses JSON in UTF-8; an empty body reads as an empty object. Throws `invalid_json`, also where it is nested more than
 * 512 deep, and `payload_too_large` where it holds more than 1,024 values.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  const text = decodeUtf8(bytes);
  return accepted(text === null ? undefined : parseBounded(text, VALUES_MAX, DEPTH_MAX), VALUES_MAX);
}

/** Parses a body that may be large, in steps; it may hold 65,536 values. */
export async function parseJsonInSteps(bytes: Uint8Array, step: Steps): Promise<unknown> {
  if (bytes.byteLength === 0) return {};
  const text = await step(() => decodeUtf8(bytes));
  const value = text === null ? undefined : await parseInSteps(text, step, VALUES_IN_STEPS_MAX, DEPTH_MAX);
  return accepted(value, VALUES_IN_STEPS_MAX);
}

function accepted(value: unknown, valuesMax: number): unknown {
  if (value === TOO_MANY_VALUES) {
    throw new ApiError("payload_too_large", `The body must hold at most ${valuesMax} values.`);
  }
  if (value === undefined || value === TOO_DEEP) throw new ApiError("invalid_json");
  return value;
}

/** The media type of a request in lower case, without its parameters; empty where none is sent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** Returns whether a media type is one of JSON. */
export function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

/** Returns the declared length of an unencoded body, or null; throws `payload_too_large` over the limit. */
export function declaredBytes(request: Request, bytesMax: number): number | null {
  const declared = request.headers.get("content-length");
  if (declared === null) return null;
  // Lengths that are sent twice arrive as a list.
  if (!/^\d+$/.test(declared)) throw new ApiError("invalid_request", "Content-Length must be one number.");
  if (Number(declared) > bytesMax) throw tooLarge(bytesMax);
  return bodyEncoding(request) === null ? Number(declared) : null;
}

/**
 * Returns the decoded body in slices of at most 256 KiB; when the consumer stops, the rest is left unread. Throws
 * `unsupported_media_type` at once for an unknown encoding. `onTaken` is called with each received part, undecoded, once
 * it was consumed; decoded parts are taken one in a `turn`. `body` is read in the place of the request's, undecoded.
 */
export function slicesOf(
  request: Request,
  {
    onTaken,
    turn,
    body = request.body ?? nothing(),
  }: {
    readonly onTaken?: (part: Uint8Array) => void;
    readonly turn?: DecodedTurn | undefined;
    readonly body?: AsyncIterable<Uint8Array>;
  } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = bodyEncoding(request);
  return encoding === null ? bodySlices(body, onTaken) : decodedParts(body, encoding, turn);
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Returns the refusal of a body with more bytes than the route takes. */
export function tooLarge(bytesMax: number): ApiError {
  return new ApiError("payload_too_large", `The body must be at most ${bytesMax} bytes.`);
}
