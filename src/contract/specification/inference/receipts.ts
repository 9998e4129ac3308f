import { Type } from "@sinclair/typebox";
import { RECEIPT_OUTCOMES, type Receipt, type ReceiptCheck } from "../../receipt.ts";
import { described, jsonReply, operation } from "../operation.ts";
import { moment, nullable, schemaOf, text, textOrNull, word } from "../reply-schema.ts";

const OPEN = { additionalProperties: true };

const ReceiptPayload = schemaOf<Receipt>()(
  Type.Object(
    {
      receipt_id: Type.String(),
      resource_url: text("What was called."),
      payer: text("Who paid."),
      pay_to: text("Who was paid."),
      network: text("CAIP-2.", "eip155:8453"),
      asset: text("The token's address."),
      amount: text("In atomic units.", "10000"),
      quote_id: textOrNull("The quote that was paid."),
      transaction: textOrNull("The transaction that settled the payment, where the facilitator named it."),
      payment_nonce: text("Names the payment on its network."),
      request_sha256: text("Over the bytes of the request's body, decoded from any content encoding."),
      response_sha256: textOrNull(
        "Over the canonical JSON (RFC 8785) of `choices`, of a stream as put together from its deltas; null where none came.",
      ),
      model_requested: Type.String(),
      model_served: textOrNull("What the upstream says that it served."),
      usage: nullable(Type.Record(Type.String(), Type.Unknown()), "As the upstream counts."),
      started_at: moment("When the call came."),
      first_token_ms: nullable(Type.Integer({ minimum: 0 }), "From then until the first token."),
      finished_at: moment("When the answer ended."),
      outcome: word(
        RECEIPT_OUTCOMES,
        "`upstream_failed`: it broke off after the first token. `interrupted`: this service was stopped.",
      ),
      prev_receipt_sha256: textOrNull("Of the receipt before, as a JWS; null for the first."),
    },
    { $id: "Receipt" },
  ),
);

const Checks = Type.Array(
  schemaOf<ReceiptCheck>()(
    Type.Object({
      check: word(
        ["format", "signature", "issued", "chain", "payment", "request", "response"],
        "What was looked at.",
      ),
      passed: Type.Boolean(),
      detail: text("What was found."),
    }),
  ),
);

const CheckedReceiptView = Type.Object(
  {
    receipt_id: Type.String(),
    valid: Type.Boolean({ description: "Whether every check has passed." }),
    receipt: ReceiptPayload,
    jws: text("The receipt as it was signed."),
    key: nullable(Type.Object({}, OPEN), "The key that it names, as a JWK."),
    checks: Checks,
    day: text("The day whose root it is under."),
  },
  { $id: "CheckedReceipt" },
);

export const getReceipt = operation({
  operationId: "getReceipt",
  method: "GET",
  path: "/v1/receipts/:receipt_id",
  parameters: { receipt_id: "The `X-Receipt-Id` of an answer." },
  tag: "Receipts",
  summary: "A receipt, checked",
  description: "Public: hashes, and no word of request or answer. With `Accept: text/html` a page.",
  access: "public",
  replies: {
    200: {
      description: "The receipt.",
      headers: ["Cache-Control"],
      content: { "application/json": CheckedReceiptView, "text/html": Type.String() },
    },
  },
  refusals: ["not_found"],
});

const VerifyBody = described(
  Type.Object({
    receipt: Type.String({ minLength: 1, maxLength: 65_536 }),
    request: Type.Optional(Type.String()),
    choices: Type.Optional(Type.Array(Type.Unknown())),
  }),
  {
    receipt: "The JWS.",
    request: "The body of the call, as it was sent.",
    choices: "The `choices` of the answer; of a stream as put together from its deltas.",
  },
  "ReceiptVerification",
);

const ReceiptVerdict = Type.Object({ valid: Type.Boolean(), checks: Checks }, { $id: "ReceiptVerdict" });

export const postReceiptVerification = operation({
  operationId: "verifyReceipt",
  method: "POST",
  path: "/v1/receipts/verify",
  tag: "Receipts",
  summary: "Check a receipt, and what you kept of the call",
  description: "Free, and nothing of it is kept.",
  access: "public",
  body: { "application/json": VerifyBody },
  replies: { 200: jsonReply("What was found.", ReceiptVerdict, ["Cache-Control"]) },
  refusals: ["invalid_request", "invalid_json", "payload_too_large", "unsupported_media_type"],
});
