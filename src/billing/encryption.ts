import { createCipheriv, createDecipheriv } from "node:crypto";
import { AT_ONCE_BYTES_MAX, type Steps } from "../platform/steps.ts";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
const NONCE_BYTES = 12;

/** Shorter texts are not compressed: the frame of zstd would make them longer. */
const COMPRESSED_BYTES_MIN = 128;
const PLAIN = 0;
const ZSTD = 1;
/** Bytes that are encrypted or decrypted in one step: about 1 ms. */
const STEP_BYTES = 1_048_576;

/** Returns a keyed hash in hex. Without the secret it confirms no guess of the text. */
export function keyedHash(secret: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
}

/**
 * Returns a text compressed and encrypted, in base64. A purpose must not be used for two texts: the key is derived from
 * secret and purpose.
 */
export function encryptText(text: string, secret: string, purpose: string): string {
  return Buffer.from(createFrameEncryption(secret, purpose).encrypt(Buffer.from(text))).toString("base64");
}

/** Decrypts a text of `encryptText`; null where secret or purpose differ, or the text was changed. */
export function decryptText(encrypted: string, secret: string, purpose: string): string | null {
  const bytes = createFrameDecryption(secret, purpose).decrypt(Buffer.from(encrypted, "base64"));
  return bytes === null ? null : Buffer.from(bytes).toString("utf8");
}

/** Encrypts as `encryptText`; a long text in steps, with its compression in another thread. */
export async function encryptTextInSteps(
  text: string,
  secret: string,
  purpose: string,
  step: Steps,
): Promise<string> {
  if (text.length <= AT_ONCE_BYTES_MAX) return encryptText(text, secret, purpose);
  const bytes = await step(() => Buffer.from(text));
  const zstd = await Bun.zstdCompress(bytes, { level: 1 });
  const cipher = createCipheriv(CIPHER, keyOf(secret, purpose), nonceOf(0));
  const parts = [cipher.update(Uint8Array.of(ZSTD))];
  for (let at = 0; at < zstd.byteLength; at += STEP_BYTES) {
    parts.push(await step(() => cipher.update(zstd.subarray(at, at + STEP_BYTES))));
  }
  return step(() => Buffer.concat([...parts, cipher.final(), cipher.getAuthTag()]).toString("base64"));
}

/** Decrypts as `decryptText`; a long text in steps, and decompressed in another thread. */
export async function decryptTextInSteps(
  encrypted: string,
  secret: string,
  purpose: string,
  step: Steps,
): Promise<string | null> {
  if (encryptedTextBytes(encrypted, secret, purpose) <= AT_ONCE_BYTES_MAX) {
    return decryptText(encrypted, secret, purpose);
  }
  const frame = await step(() => Buffer.from(encrypted, "base64"));
  const end = frame.byteLength - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, keyOf(secret, purpose), nonceOf(0));
  decipher.setAuthTag(frame.subarray(end));
  const parts: Buffer[] = [];
  try {
    for (let at = 0; at < end; at += STEP_BYTES) {
      parts.push(await step(() => decipher.update(frame.subarray(at, Math.min(end, at + STEP_BYTES)))));
    }
    decipher.final();
    const text = await step(() => Buffer.concat(parts));
    const piece = text.subarray(1);
    const bytes = text[0] === ZSTD ? await Bun.zstdDecompress(piece) : piece;
    return await step(() => bytes.toString("utf8"));
  } catch {
    return null;
  }
}

/** Bytes of the beginning of an encrypted text in base64, and of it as bytes: the kind and the head of zstd. */
const [HEAD_LENGTH, HEAD_BYTES] = [32, 24];

/**
 * Returns the bytes of a text of `encryptText` by its head alone, so that its cost is known before it is decrypted: a text
 * may be a thousand times as long as it is encrypted. Infinite where the head does not say. Not authenticated.
 */
export function encryptedTextBytes(encrypted: string, secret: string, purpose: string): number {
  const start = Buffer.from(encrypted.slice(0, HEAD_LENGTH), "base64");
  const bytesMin = Math.floor((encrypted.length * 3) / 4);
  if (start.byteLength < HEAD_BYTES) return bytesMin;
  const head = createDecipheriv(CIPHER, keyOf(secret, purpose), nonceOf(0)).update(start);
  return head[0] === ZSTD ? Math.max(bytesMin, zstdContentBytes(head.subarray(1))) : bytesMin;
}

/** Reads the frame content size of zstd (RFC 8878, 3.1.1.1). */
function zstdContentBytes(frame: Buffer): number {
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const at = isSingleSegment ? 5 : 6;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0 && isSingleSegment) return frame[at] ?? 0;
  if (sizeFlag === 1) return frame.readUInt16LE(at) + 256;
  return sizeFlag === 2 ? frame.readUInt32LE(at) : Number.POSITIVE_INFINITY;
}

/** Compresses and encrypts the pieces of one body, which must be decrypted in the same order without a gap. */
export type FrameEncryption = { readonly encrypt: (piece: Uint8Array) => Uint8Array };

/** Decrypts the next piece; null where it is not the next one of this secret and purpose. */
export type FrameDecryption = { readonly decrypt: (frame: Uint8Array) => Uint8Array | null };

/** Creates the encryption of one body. Secret and purpose must not be used for another. */
export function createFrameEncryption(secret: string, purpose: string): FrameEncryption {
  const key = keyOf(secret, purpose);
  let frames = 0;
  return {
    encrypt: (piece) => {
      const cipher = createCipheriv(CIPHER, key, nonceOf(frames));
      frames += 1;
      const zstd = piece.byteLength < COMPRESSED_BYTES_MIN ? null : Bun.zstdCompressSync(piece, { level: 1 });
      const head = Uint8Array.of(zstd === null ? PLAIN : ZSTD);
      return Buffer.concat([
        cipher.update(head),
        cipher.update(zstd ?? piece),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
  };
}

/** Creates the decryption of a body that was encrypted with this secret and purpose. */
export function createFrameDecryption(secret: string, purpose: string): FrameDecryption {
  const key = keyOf(secret, purpose);
  let frames = 0;
  return {
    decrypt: (frame) => {
      if (frame.byteLength <= TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, key, nonceOf(frames));
      frames += 1;
      decipher.setAuthTag(frame.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(frame.subarray(0, -TAG_BYTES));
        decipher.final();
        const piece = text.subarray(1);
        return text[0] === ZSTD ? Bun.zstdDecompressSync(piece) : piece;
      } catch {
        return null;
      }
    },
  };
}

/** The nonce of a piece: its position, so that none can be moved or repeated. */
function nonceOf(frame: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(frame, NONCE_BYTES - 4);
  return nonce;
}

function keyOf(secret: string, purpose: string): Uint8Array {
  return new Bun.CryptoHasher("sha256", secret).update(`encrypted text: ${purpose}`).digest();
}
