import type { Account } from "../accounts/key-ring.ts";
import { type Difference, idempotencyFingerprint, parseIdempotencyKey } from "../billing/call-fingerprint.ts";
import type { Idempotency, IdempotentCall, KeptReply } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import { ApiError } from "../contract/errors.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import { keyOf } from "./auth.ts";
import type { Call } from "./call.ts";
import type { Reply } from "./reply.ts";
import { requestPath } from "./request-path.ts";

export type Idempotent = {
  /**
   * Runs the work of a POST once per Idempotency-Key. The work gets the entry with which it must keep its reply in the
   * transaction of its charge, or null without a key. `digest` returns the SHA-256 of the body in hex; it is called only
   * with a key. Replies are encrypted with the API key of the call, and replayed to that key alone.
   */
  readonly run: (
    call: Call,
    account: Account,
    digest: () => string,
    work: (entry: IdempotentCall | null) => Promise<Reply>,
  ) => Promise<Reply>;
  /**
   * Returns the kept secret reply to a repetition with an expired API key; throws `bad_key` without one, and
   * `idempotency_in_progress` while the call may still keep it.
   */
  readonly replay: (call: Call, account: Account, digest: () => string) => Promise<Reply>;
};

export function createIdempotent(idempotency: Idempotency): Idempotent {
  function begin(call: Call, account: Account, header: string, digest: () => string) {
    const { request } = call;
    const key = parseIdempotencyKey(header);
    if (key === null) {
      throw new ApiError("invalid_request", "Idempotency-Key must be 1 to 255 printable ASCII characters.");
    }
    const fingerprint = idempotencyFingerprint({
      ...requestPath(request.url),
      method: request.method,
      contentType: request.headers.get("content-type") ?? "",
      accept: request.headers.get("accept") ?? "",
      bodyDigest: digest(),
    });
    return idempotency.begin(account.accountId, key, fingerprint, keyOf(call));
  }

  return {
    async run(call, account, digest, work) {
      const header = call.request.headers.get("idempotency-key");
      if (header === null) return work(null);
      const start = await begin(call, account, header, digest);
      if (start.state === "in_progress") throw new ApiError("idempotency_in_progress");
      if (start.state === "mismatch") throw mismatch(start.differs);
      if (start.state === "replay") return replayed(start.reply);
      try {
        return await work(start.call);
      } finally {
        await start.call.end();
      }
    },
    async replay(call, account, digest) {
      const start = await begin(call, account, call.request.headers.get("idempotency-key") ?? "", digest);
      if (start.state === "fresh") await start.call.end();
      // The call may run on a node that is gone. This reveals nothing, as the fingerprint is keyed with the API key.
      if (start.state === "in_progress") throw new ApiError("idempotency_in_progress");
      if (start.state !== "replay") throw new ApiError("bad_key");
      return replayed(start.reply);
    },
  };
}

/**
 * Keeps the reply of an idempotent change after it was made, and counts the call. Where the process ends in between, a
 * repetition makes the change once more.
 */
export async function keepBehind(
  meter: Pick<Meter, "reserve">,
  call: Call,
  account: Account,
  reply: ReplyRecord,
): Promise<void> {
  const reservation = meter.reserve(account, 0);
  try {
    await reservation.record({ endpoint: call.route, units: 0 }, reply);
  } finally {
    reservation.release();
  }
}

function replayed({ status, headers, body }: KeptReply): Reply {
  return { status, body, headers: { ...headers, "Idempotent-Replayed": "true" } };
}

function mismatch(differs: Difference): ApiError {
  return new ApiError("idempotency_mismatch", `This Idempotency-Key was used with another ${differs}.`);
}
