import { createCipheriv, createDecipheriv } from "node:crypto";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;

/** Each secret and purpose makes a key of its own, which seals one text: so the nonce may be the same for all. */
const NONCE = new Uint8Array(12);

/** Encrypts a text so that only the holder of the secret reads it. A purpose must not be used for two texts. */
export function sealText(text: string, secret: string, purpose: string): string {
  const cipher = createCipheriv(CIPHER, keyOf(secret, purpose), NONCE);
  return Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** The text of `sealText`; null where secret or purpose are others, or the text was changed. */
export function unsealText(sealed: string, secret: string, purpose: string): string | null {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.length < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, keyOf(secret, purpose), NONCE);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

function keyOf(secret: string, purpose: string): Uint8Array {
  return new Bun.CryptoHasher("sha256", secret).update(`sealed text: ${purpose}`).digest();
}
