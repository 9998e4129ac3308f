import { decryptText, encryptText } from "../billing/encryption.ts";
import { sha256 } from "../platform/sha256.ts";

/** An answer as it is kept for a payment that is shown again. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

/** Returns the SHA-256 of a request, by which the same request is known again. */
export function fingerprintOf(request: string): string {
  return sha256(`fingerprint\n${request}`);
}

/**
 * Encrypts an answer with a key made of the request, which is not kept: a signed payment becomes public once it is
 * settled, so that the payment alone must not open what it bought.
 */
export function sealAnswer(answer: KeptAnswer, request: string, paymentId: string): string {
  return encryptText(JSON.stringify(answer), sha256(`answer\n${request}`), paymentId);
}

/** Returns the answer of `sealAnswer`. Throws where the request is another one. */
export function unsealAnswer(sealed: string, request: string, paymentId: string): KeptAnswer {
  const text = decryptText(sealed, sha256(`answer\n${request}`), paymentId);
  if (text === null) throw new Error("a kept answer does not open with the request that it was kept for");
  return JSON.parse(text) as KeptAnswer;
}
