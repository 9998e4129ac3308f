import { ApiError } from "../../contract/errors.ts";
import { getPayment } from "../../contract/specification/payments/payment.ts";
import type { Payments } from "../../payments/payments.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type PaymentRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly payments: Pick<Payments, "find">;
};

/** `GET /v1/payments/{id}`: what became of a payment. Public, as only the payer knows the id. */
export function paymentRoutes({ routing, payments }: PaymentRouteDependencies): readonly Route[] {
  return [
    routing.public(getPayment, (call) => {
      const payment = payments.find(call.params.payment_id ?? "");
      if (payment === null) {
        throw new ApiError("not_found", "There is no payment with this id that was sent on.");
      }
      return { ...json(payment), headers: { "Cache-Control": "no-store" } };
    }),
  ];
}
