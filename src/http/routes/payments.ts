import { ApiError } from "../../contract/errors.ts";
import type { Payments } from "../../payments/payments.ts";
import { json } from "../reply.ts";
import type { Route } from "../routing.ts";

/** `GET /v1/payments/{id}`: what became of a payment. Public, as only the payer knows the id. */
export function paymentRoutes({ payments }: { readonly payments: Pick<Payments, "find"> }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v1/payments/:id",
      access: "public",
      operation: null,
      handler(call) {
        const payment = payments.find(call.params.id ?? "");
        if (payment === null)
          throw new ApiError("not_found", "There is no payment with this id that was sent on.");
        return { ...json(payment), headers: { "Cache-Control": "no-store" } };
      },
    },
  ];
}
