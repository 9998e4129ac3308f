import type { Account } from "../accounts/key-ring.ts";
import { ApiError } from "../errors.ts";
import {
  type Idempotency,
  type IdempotentCall,
  idempotencyFingerprint,
  parseIdempotencyKey,
} from "../metering/idempotency.ts";
import type { Call } from "./boundary.ts";
import { bearerKey } from "./guard.ts";
import type { Reply } from "./reply.ts";

/**
 * Runs the work of a POST once per Idempotency-Key. The work gets the call whose reply it must keep beside its
 * charge, or null where no key was sent.
 */
export type Idempotent = (
  call: Call,
  account: Account,
  body: Uint8Array,
  work: (entry: IdempotentCall | null) => Promise<Reply>,
  /** The reply holds a secret: it is kept encrypted with the key of the call, and replayed to that key alone. */
  options?: { readonly secret: boolean },
) => Promise<Reply>;

export function createIdempotent(idempotency: Idempotency): Idempotent {
  return async (call, account, body, work, options) => {
    const header = call.request.headers.get("idempotency-key");
    if (header === null) return work(null);
    const key = parseIdempotencyKey(header);
    if (key === null) {
      throw new ApiError("invalid_request", "Idempotency-Key must be 1 to 255 printable ASCII characters.");
    }
    const { pathname, search } = new URL(call.request.url);
    const fingerprint = idempotencyFingerprint(call.request.method, pathname + search, body);
    const secret = options?.secret === true ? bearerKey(call.request) : undefined;
    const start = idempotency.begin(account.accountId, key, fingerprint, secret);
    if (start.state === "in_progress") throw new ApiError("idempotency_in_progress");
    if (start.state === "mismatch") throw new ApiError("idempotency_mismatch");
    if (start.state === "replay") {
      const { status, headers, body: stored } = start.reply;
      return { status, body: stored, headers: { ...headers, "Idempotent-Replayed": "true" } };
    }
    try {
      return await work(start.call);
    } finally {
      start.call.end();
    }
  };
}
