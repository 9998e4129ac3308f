import { sha256 } from "../platform/sha256.ts";
import { keyedHash } from "./encryption.ts";

// What makes two calls with an Idempotency-Key one.

/** In what a call is another than the one that used its Idempotency-Key before. */
export type Difference = "API key" | (typeof COMPARED)[number];

/** What must be the same for two calls to be one, in the order in which a difference is named. */
const COMPARED = ["path", "query", "Content-Type", "Accept", "body"] as const;

/** Returns an Idempotency-Key, which is printable ASCII of 1 to 255 characters, bare or as a quoted string (RFC 8941); else null. */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, "$1") : text;
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : null;
}

/** A call as far as two of them must be alike to be one. */
export type RepeatableCall = {
  readonly method: string;
  readonly pathname: string;
  readonly search: string;
  readonly contentType: string;
  readonly accept: string;
  /** See `bodyDigest`. */
  readonly bodyDigest: string;
};

/** Returns the hashes of what is compared, in the order of COMPARED; the method is part of the path. */
export function idempotencyFingerprint(call: RepeatableCall): string {
  const { method, pathname, search, contentType, accept } = call;
  return [...[`${method} ${pathname}`, search, contentType, accept].map(sha256), call.bodyDigest].join(" ");
}

/** Returns the SHA-256 of a small body, in hex: at 131,072 bytes it takes a tenth of a millisecond. */
export function bodyDigest(body: string | Uint8Array): string {
  return sha256(body);
}

/** Returns a fingerprint as it is kept: without the API key no guess of what was sent can be confirmed. */
export function secretFingerprint(fingerprint: string, secret: string): string {
  return ["API key", ...fingerprint.split(" ")].map((part) => keyedHash(secret, part)).join(" ");
}

/** Returns the first in which two fingerprints under secrets differ. */
export function differenceOf(one: string, other: string): Difference {
  const hashes = one.split(" ");
  const others = other.split(" ");
  const compared = ["API key", ...COMPARED] as const;
  return compared.find((_, place) => hashes[place] !== others[place]) ?? "body";
}
