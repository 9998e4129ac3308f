import { formatUsd } from "../billing/money.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Requirement } from "./offer.ts";
import type { PaidCall, PaidReply } from "./paid-call.ts";
import { challengeOf } from "./x402-codec.ts";

/** Seconds until a payment in use or in settlement may be sent again. */
const RETRY_SECONDS = 2;

/**
 * Returns the 402 of a call: `payment_required`, or `payment_invalid` with the reason. Throws the refusal of a call that is
 * not sold any more.
 */
export function challenge(
  call: Pick<PaidCall, "offer" | "refused">,
  requirements: readonly Requirement[],
  reason: string | null,
): PaidReply {
  if (call.refused !== undefined) throw call.refused;
  if (requirements.length === 0) {
    return refusal(
      502,
      "upstream_failed",
      "The payment facilitator cannot be reached, so this call cannot be paid.",
    );
  }
  const { header, body } = challengeOf(call.offer, requirements, reason ?? "payment required");
  const headers = { "PAYMENT-REQUIRED": header };
  if (reason === null) {
    const message = `This call costs ${formatUsd(call.offer.priceMicroUsd)} USD, paid with x402 in USDC.`;
    return refusal(402, "payment_required", message, { headers, body });
  }
  return refusal(402, "payment_invalid", `The payment was not taken: ${reason}.`, { headers, body });
}

export function inUse(): PaidReply {
  return waitRefusal(409, "payment_in_use", "A call with this payment is still running.", RETRY_SECONDS);
}

export function cannotVerify(): PaidReply {
  const message = "The payment facilitator does not answer. Nothing was charged.";
  return waitRefusal(502, "upstream_failed", message, RETRY_SECONDS);
}

export function outcomeUnknown(): PaidReply {
  const message =
    "It is not yet known whether the payment was settled. Send the same payment again: it is not charged twice.";
  return waitRefusal(503, "settlement_unknown", message, RETRY_SECONDS);
}

/** What was paid for cannot be answered now. `retryAfterSeconds` where it is known when it can. */
export function answerDelayed(retryAfterSeconds = RETRY_SECONDS): PaidReply {
  const message =
    "The answer to this payment cannot be given now. Send the same payment again: it is not charged twice.";
  const seconds = Math.max(RETRY_SECONDS, Math.ceil(retryAfterSeconds));
  return waitRefusal(503, "settlement_unknown", message, seconds);
}

/** Returns a refusal in the error envelope, with further fields and headers. */
function refusal(
  status: number,
  code: ErrorCode,
  message: string,
  more: { readonly headers?: { readonly [name: string]: string }; readonly body?: object } = {},
): PaidReply {
  return {
    status,
    headers: { "Cache-Control": "no-store", ...more.headers },
    body: JSON.stringify({ error: { code, message }, ...more.body }),
  };
}

/** Returns a temporary refusal. Clients must not retry it automatically, as they would sign a new payment. */
function waitRefusal(status: number, code: ErrorCode, message: string, retryAfterSeconds: number): PaidReply {
  const headers = { "Retry-After": String(retryAfterSeconds), "x-should-retry": "false" };
  return refusal(status, code, message, { headers });
}
