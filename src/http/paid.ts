import type { PaidCall } from "../payments/paid-call.ts";
import type { Payments } from "../payments/payments.ts";
import type { Call } from "./boundary.ts";
import type { Reply } from "./reply.ts";

/** What a paid route says of one call: its price, what decides the answer, and the work. */
export type PaidWork = Pick<PaidCall, "offer" | "work" | "finish"> & {
  /** The body as text; method and address are taken from the call. */
  readonly body: string;
};

export type WithPayment = (call: Call, work: PaidWork) => Promise<Reply>;

/** Browsers read these headers of a reply only where they are named. */
const EXPOSED =
  "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Payment-Id, X-Request-Id, Retry-After";

/** The bracket that no paid work can be done outside of: verify, reserve, work, settle, answer. */
export function createWithPayment(payments: Pick<Payments, "take">): WithPayment {
  return async (call, { body, ...paid }) => {
    const { method, url, headers } = call.request;
    call.headers["Access-Control-Expose-Headers"] = EXPOSED;
    // Work and settlement may take longer than connections may be silent.
    call.suspendIdleTimeout();
    return await payments.take({
      ...paid,
      headers,
      request: `${method} ${url.replace(/^[^/]*\/\/[^/]*/, "")}\n${body}`,
      onPayment: (paymentId) => {
        call.headers["X-Payment-Id"] = paymentId;
      },
    });
  };
}
