import type { JsonObject } from "./openapi-schema.ts";

const text = (description: string, example: string, pattern?: string): JsonObject => ({
  description,
  schema: { type: "string", ...(pattern === undefined ? {} : { pattern }) },
  example,
});
const number = (description: string, example: number): JsonObject => ({
  description,
  schema: { type: "integer", minimum: 0 },
  example,
});

/** Every header that a reply of ours may carry, by name. */
export const HEADERS = {
  "X-Request-Id": text("Names this call in the log; send it along with a question.", "req_k3J9xQ2mZp2a7v0c"),
  "RateLimit-Policy": text(
    "The plan's limits (IETF RateLimit fields): calls at once, and units in the month.",
    '"burst";q=20;w=2, "month";q=1000;qu="units"',
  ),
  RateLimit: text(
    "What is left of them now, and the seconds until they are whole again.",
    '"burst";r=19;t=1, "month";r=999;t=864000',
  ),
  "X-Units-Charged": number("What this call cost.", 1),
  "X-Units-Remaining": number("Units left before the hard stop; absent on plans that have none.", 999),
  "Retry-After": number("Whole seconds after which it is worth asking again.", 1),
  "Idempotent-Replayed": {
    description:
      "`true` on a reply that was kept for this Idempotency-Key: nothing was done or charged again.",
    schema: { type: "string", enum: ["true"] },
  },
  "WWW-Authenticate": text("How to authenticate.", 'Bearer realm="assay"'),
  ETag: text("Names this very content, for `If-None-Match`.", '"v12-9f86d081"'),
  Age: number("Seconds since the snapshot was read from upstream.", 12),
  "Cache-Control": text("How long the reply may be kept.", "no-cache"),
  Vary: text("The request headers that the reply goes by.", "Accept, Accept-Encoding"),
  "Content-Encoding": text(
    "`gzip` or `zstd`, on replies of 1 KB and more where `Accept-Encoding` asks for it.",
    "gzip",
  ),
  "X-Accel-Buffering": text("`no`: proxies pass each event on as it comes.", "no"),
  Location: text("Where to find what was made.", "/v1/jobs/job_0192f3c0a1b27def"),
  "X-Job-Complete": {
    description: "`false` where the job is not done: these are the results that are finished without a gap.",
    schema: { type: "string", enum: ["true", "false"] },
  },
  "Content-Range": text("Which bytes these are.", "bytes 1000-1999/2000"),
  "Accept-Ranges": text("`bytes` where a part can be asked for.", "bytes"),
  "X-Directory-Epoch": text("Names the life of the change feed; cursors hold within it.", "k3J9xQ"),
  "X-Directory-Version": number("The version of the snapshot.", 12),
  "X-Directory-Count": number("Listings in the snapshot.", 120),
  "X-Directory-Cursor": text("Where to go on with `/v1/changes` after this export.", "eyJlIjoiazNKOXhRIn0"),
  "X-Directory-Digest": text("The digest of the snapshot's listings.", "9f86d081884c7d65"),
} as const satisfies { readonly [name: string]: JsonObject };

/** More headers, of the servers that take payments. */
export const PAYMENT_HEADERS = {
  "PAYMENT-REQUIRED": text(
    "How to pay, as x402 version 2 writes it: JSON in base64.",
    "eyJ4NDAyVmVyc2lvbiI6Mn0=",
  ),
  "PAYMENT-RESPONSE": text("How the payment was settled: JSON in base64.", "eyJzdWNjZXNzIjp0cnVlfQ=="),
  "X-Payment-Id": text(
    "Names the payment, for `/v1/payments/{id}`.",
    "pay_3b9aca00f1e2d3c4b5a697887766554433",
  ),
  "X-Receipt-Id": text("Names the receipt of the answer.", "rcpt_5f0c9a1e7b2d4c3f8e6a0b1c2d3e4f50"),
  "X-Verify-Url": text(
    "Where anyone can check the receipt.",
    "https://inference.example/v1/receipts/rcpt_5f0c9a1e7b2d4c3f8e6a0b1c2d3e4f50",
  ),
} as const satisfies { readonly [name: string]: JsonObject };

export type HeaderName = keyof typeof HEADERS | keyof typeof PAYMENT_HEADERS;

export function headerRefs(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** On every reply to a call with a good key. */
export const KEY_HEADERS = [
  "RateLimit-Policy",
  "RateLimit",
  "X-Units-Charged",
  "X-Units-Remaining",
] as const satisfies readonly HeaderName[];
