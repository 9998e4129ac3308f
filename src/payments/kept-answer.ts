import { decryptText, encryptText } from "../billing/encryption.ts";
import { sha256 } from "../platform/sha256.ts";

/** The stored answer of a payment, for its repetition. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

/** Returns the SHA-256 of a request, which identifies its repetitions. */
export function fingerprintOf(request: string): string {
  return sha256(`fingerprint\n${request}`);
}

/**
 * Encrypts an answer with a key derived from the request, which is not stored: a signed payment becomes public once it is
 * settled, so the payment alone must not decrypt the answer.
 */
export function sealAnswer(answer: KeptAnswer, request: string, paymentId: string): string {
  return encryptText(JSON.stringify(answer), sha256(`answer\n${request}`), paymentId);
}

/** Decrypts an answer of `sealAnswer`. Throws for another request. */
export function unsealAnswer(sealed: string, request: string, paymentId: string): KeptAnswer {
  const text = decryptText(sealed, sha256(`answer\n${request}`), paymentId);
  if (text === null) throw new Error("a kept answer does not open with the request that it was kept for");
  return JSON.parse(text) as KeptAnswer;
}
