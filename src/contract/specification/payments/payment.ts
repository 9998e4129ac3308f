import { Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { moment, nullable, schemaOf, text, textOrNull, usd, word } from "../reply-schema.ts";

const PAYMENT_STATES = ["settling", "settled", "released"] as const;

/** A payment as `GET /v1/payments/{id}` shows it. */
export type PaymentView = {
  readonly payment_id: string;
  readonly status: (typeof PAYMENT_STATES)[number];
  readonly reason: string | null;
  readonly network: string;
  readonly payer: string;
  readonly pay_to: string;
  readonly asset: string;
  readonly amount: string;
  readonly amount_usd: string;
  readonly transaction: string | null;
  readonly resource: string;
  readonly created_at: string;
  readonly settled_at: string | null;
};

export const Payment = schemaOf<PaymentView>()(
  Type.Object(
    {
      payment_id: text("As in `X-Payment-Id`."),
      status: word(
        PAYMENT_STATES,
        "`settling`: the outcome is not known yet. `released`: nothing was charged.",
      ),
      reason: textOrNull("Why it was released."),
      network: text("CAIP-2.", "eip155:8453"),
      payer: text("The address that paid."),
      pay_to: text("The address that was paid."),
      asset: text("The token's address."),
      amount: text("In atomic units.", "50000"),
      amount_usd: usd("The same in USD."),
      transaction: textOrNull("The transaction that settled it, where the facilitator named it."),
      resource: text("What was paid for, without its query."),
      created_at: moment("When the settlement was first to be sent."),
      settled_at: nullable(moment("When it was known to be settled.")),
    },
    { $id: "Payment" },
  ),
);

export const getPayment = operation({
  operationId: "getPayment",
  method: "GET",
  path: "/v1/payments/:payment_id",
  parameters: { payment_id: "The `X-Payment-Id` of the reply to the paid call." },
  tag: "Payments",
  summary: "What became of a payment",
  description:
    "Of payments whose settlement was to be sent. A payment that was refused before, or whose call was not answered with success, is not there: nothing was charged.",
  access: "public",
  replies: { 200: jsonReply("The payment.", Payment) },
  refusals: ["not_found"],
});
