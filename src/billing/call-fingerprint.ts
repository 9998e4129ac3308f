import { sha256 } from "../platform/sha256.ts";
import { keyedHash } from "./encryption.ts";

// A call with an Idempotency-Key repeats an earlier one where their fingerprints are equal.

/** The first part in which a call differs from the one that used its Idempotency-Key before. */
export type Difference = "API key" | (typeof COMPARED)[number];

/** The parts that are compared, in the order in which a difference is reported. */
const COMPARED = ["path", "query", "Content-Type", "Accept", "body"] as const;

/** Returns an Idempotency-Key, which is printable ASCII of 1 to 255 characters, bare or as a quoted string (RFC 8941); else null. */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, "$1") : text;
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : null;
}

/** The parts of a call that its fingerprint covers. */
export type RepeatableCall = {
  readonly method: string;
  readonly pathname: string;
  readonly search: string;
  readonly contentType: string;
  readonly accept: string;
  /** See `bodyDigest`. */
  readonly bodyDigest: string;
};

/** Returns the hash of each part, in the order of COMPARED; the method is part of the path. */
export function idempotencyFingerprint(call: RepeatableCall): string {
  const { method, pathname, search, contentType, accept } = call;
  return [...[`${method} ${pathname}`, search, contentType, accept].map(sha256), call.bodyDigest].join(" ");
}

/** Returns the SHA-256 of a small body, in hex: at 131,072 bytes it takes a tenth of a millisecond. */
export function bodyDigest(body: string | Uint8Array): string {
  return sha256(body);
}

/** Returns a fingerprint for the store, keyed with the API key: without it no guess of the content can be confirmed. */
export function secretFingerprint(fingerprint: string, secret: string): string {
  return ["API key", ...fingerprint.split(" ")].map((part) => keyedHash(secret, part)).join(" ");
}

/** Returns the first part in which two keyed fingerprints differ. */
export function differenceOf(one: string, other: string): Difference {
  const hashes = one.split(" ");
  const others = other.split(" ");
  const compared = ["API key", ...COMPARED] as const;
  return compared.find((_, place) => hashes[place] !== others[place]) ?? "body";
}
