import type { Steps } from "./steps.ts";

/** Returns the SHA-256 of bytes, or of a text as UTF-8, in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}

/** Bytes hashed in one step: less than 1 ms. */
const HASHED_AT_ONCE = 524_288;

/** Returns the SHA-256 of bytes that take too long to hash in one step. */
export async function sha256InSteps(bytes: Uint8Array, step: Steps): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for (let at = 0; at < bytes.byteLength; at += HASHED_AT_ONCE) {
    await step(() => void hash.update(bytes.subarray(at, at + HASHED_AT_ONCE)));
  }
  return hash.digest("hex");
}
