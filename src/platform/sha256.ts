/** Returns the SHA-256 of bytes, or of a text as UTF-8, in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}
