import { createPublicKey, verify } from "node:crypto";
import type { PublicKey } from "./signing-key.ts";

/** A JWS in compact form, taken apart; nothing of it is checked yet. */
export type Jws = {
  readonly header: { readonly [name: string]: unknown };
  readonly payload: string;
  readonly signed: string;
  readonly signature: Uint8Array;
};

/** Longer texts are not looked at. */
const JWS_CHARACTERS_MAX = 65_536;
const PART = /^[A-Za-z0-9_-]+$/;
const SIGNATURE_BYTES = 64;

/** Takes a JWS in compact form apart (RFC 7515, 3.1); null where it is not one in the one spelling of base64url. */
export function readJws(text: string): Jws | null {
  if (text.length > JWS_CHARACTERS_MAX) return null;
  const [header = "", payload = "", signature = "", ...rest] = text.split(".");
  const [headerBytes, payloadBytes, signatureBytes] = [header, payload, signature].map(decoded);
  if (rest.length > 0 || !headerBytes || !payloadBytes || !signatureBytes) return null;
  const fields = objectOf(headerBytes.toString("utf8"));
  if (fields === null) return null;
  return {
    header: fields,
    payload: payloadBytes.toString("utf8"),
    signed: `${header}.${payload}`,
    signature: signatureBytes,
  };
}

/** Returns whether a JWS is signed by a key. Other algorithms than EdDSA, and critical extensions, are not taken. */
export function isSignedBy({ header, signed, signature }: Jws, { kty, crv, x }: PublicKey): boolean {
  if (header.alg !== "EdDSA" || header.crit !== undefined || signature.length !== SIGNATURE_BYTES)
    return false;
  try {
    const key = createPublicKey({ key: { kty, crv, x }, format: "jwk" });
    return verify(null, Buffer.from(signed), key, signature);
  } catch {
    return false;
  }
}

/** Bits that are left over must be zero: each text has one spelling. */
function decoded(part: string): Buffer | null {
  if (!PART.test(part)) return null;
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}

function objectOf(text: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as { readonly [name: string]: unknown }) : null;
  } catch {
    return null;
  }
}
