import { createCipheriv, createDecipheriv } from "node:crypto";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
const NONCE_BYTES = 12;

/** Shorter texts are not compressed: the frame of zstd would make them longer. */
const COMPRESSED_BYTES_MIN = 128;
const PLAIN = 0;
const ZSTD = 1;

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
