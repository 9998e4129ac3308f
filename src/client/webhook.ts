import type { WebhookEvent } from "./types.ts";

/** An invalid delivery: its sender does not know the secret, or it is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

export type WebhookHeaders = Headers | { readonly [name: string]: string | readonly string[] | undefined };

export type VerifyWebhookOptions = {
  /** Deliveries whose attempt is further away in time are refused (300). */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch. */
  readonly now?: number;
};

const TOLERANCE_SECONDS = 300;

/**
 * Returns the event of a delivery whose signature one of the secrets made, as Standard Webhooks has it. `body` is what
 * arrived, byte for byte. Throws WebhookVerificationError. Needs no more than Web Crypto.
 *
 * @example
 * const event = await verifyWebhook(secret, request.headers, await request.text());
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("webhook-timestamp is no time.");
  const awaySeconds = Math.abs(now / 1000 - Number(timestamp));
  if (awaySeconds > toleranceSeconds) {
    throw new WebhookVerificationError(`The delivery is ${Math.round(awaySeconds)} seconds away in time.`);
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const candidates = signatures
    .split(" ")
    .flatMap((signature) => (signature.startsWith("v1,") ? [bytesOfBase64(signature.slice(3))] : []));
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const key = await keyOf(secret);
    for (const candidate of candidates) {
      // Web Crypto compares in constant time.
      if (candidate !== null && (await crypto.subtle.verify("HMAC", key, candidate, signed))) {
        return eventOf(bytes);
      }
    }
  }
  throw new WebhookVerificationError("No signature of the delivery is one of these secrets'.");
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOfBase64(secret.replace(/^whsec_/, ""));
  if (bytes === null || bytes.byteLength === 0) throw new TypeError("The secret is not base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function headerOf(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? missing(name);
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return (typeof found === "string" ? found : found?.join(" ")) ?? missing(name);
}

function missing(name: string): never {
  throw new WebhookVerificationError(`The delivery has no ${name}.`);
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  } catch (cause) {
    throw new WebhookVerificationError("The delivery is no JSON.", { cause });
  }
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenated(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(start.byteLength + end.byteLength);
  whole.set(start);
  whole.set(end, start.byteLength);
  return whole;
}
