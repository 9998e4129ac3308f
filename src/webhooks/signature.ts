import { createHmac } from "node:crypto";
/** Returns this many random bytes. */
export type RandomBytes = (bytes: number) => Uint8Array;

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Returns a new secret: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(randomBytes: RandomBytes): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64");
}

export type SignedMessage = {
  readonly id: string;
  /** Of the attempt, milliseconds since the epoch. */
  readonly at: number;
  readonly body: string;
  /** The signature of each is sent. */
  readonly secrets: readonly string[];
};

/** Returns the headers of a message as Standard Webhooks has them: HMAC-SHA256 over `id.timestamp.body`, v1. */
export function signedHeaders({ id, at, body, secrets }: SignedMessage): Readonly<Record<string, string>> {
  const timestamp = `${Math.floor(at / 1000)}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
