import { decryptTextInSteps, encryptedTextBytes, encryptTextInSteps } from "../billing/encryption.ts";
import { sha256 } from "../platform/sha256.ts";
import { type Steps, stepsFor } from "../platform/steps.ts";

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

/** An answer that is kept: encrypted with a key of the request, for a payment. */
export type SealedAnswer = { readonly sealed: string; readonly request: string; readonly paymentId: string };

/**
 * Encrypts an answer with a key derived from the request, which is not stored: a signed payment becomes public once it is
 * settled, so the payment alone must not decrypt the answer. A long one is encrypted in steps.
 */
export async function sealAnswer(
  answer: KeptAnswer,
  { request, paymentId }: Omit<SealedAnswer, "sealed">,
  step: Steps,
): Promise<string> {
  const text = await stepsFor(answer.body.length, step)(() => JSON.stringify(answer));
  return encryptTextInSteps(text, secretOf(request), paymentId, step);
}

/** Decrypts an answer of `sealAnswer`; a long one in steps. Throws for another request. */
export async function unsealAnswer(
  { sealed, request, paymentId }: SealedAnswer,
  step: Steps,
): Promise<KeptAnswer> {
  const text = await decryptTextInSteps(sealed, secretOf(request), paymentId, step);
  if (text === null) throw new Error("a kept answer does not open with the request that it was kept for");
  return stepsFor(text.length, step)(() => JSON.parse(text) as KeptAnswer);
}

/** Returns the bytes of an answer of `sealAnswer` by its head alone. */
export function sealedAnswerBytes({ sealed, request, paymentId }: SealedAnswer): number {
  return encryptedTextBytes(sealed, secretOf(request), paymentId);
}

function secretOf(request: string): string {
  return sha256(`answer\n${request}`);
}
