import { type Static, Type } from "@sinclair/typebox";
import { RECEIPT_OUTCOMES, type Receipt, type ReceiptCheck } from "../receipt.ts";
import { described, operation, type Price } from "./operation.ts";
import { count, moment, nullable, schemaOf, text, textOrNull, usd, word } from "./reply-schema.ts";

const JSON_TYPE = "application/json";
const OPEN = { additionalProperties: true };

const Message = Type.Object({ role: Type.String() }, OPEN);

export const ChatBody = described(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 256 }),
      messages: Type.Array(Message, { minItems: 1 }),
      stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
      n: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 128 }), Type.Null()])),
      max_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
      max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    },
    OPEN,
  ),
  {
    model: "One of `/v1/models`.",
    messages: "As OpenAI's API takes them: text, parts, tool calls and their results.",
    stream: "Answers in events as the tokens come.",
    n: "Choices to make.",
    max_tokens: "Tokens of each choice at most.",
    max_completion_tokens: "The same, by its newer name.",
  },
  "ChatRequest",
);

const RECEIPT_FIELDS = {
  receipt: text("The signed receipt: a JWS."),
  verify_url: text("Where anyone can check it."),
};

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.String(),
    created: Type.Integer(),
    model: text("The model that answered."),
    choices: Type.Array(Type.Object({}, OPEN), { description: "As the upstream made them." }),
    usage: Type.Optional(nullable(Type.Object({}, OPEN))),
    ...RECEIPT_FIELDS,
  },
  { ...OPEN, $id: "ChatCompletion" },
);

const PAID_REFUSALS = [
  "invalid_request",
  "invalid_json",
  "not_found",
  "payload_too_large",
  "unsupported_media_type",
  "upstream_failed",
] as const;

/** Returns the paid operations, at the prices of a service. */
export function chatOperations(chatPrice: Price, taskPrice: Price) {
  return {
    postChatCompletion: operation({
      operationId: "createChatCompletion",
      method: "POST",
      path: "/v1/chat/completions",
      tag: "Chat",
      summary: "Complete a chat, with a receipt",
      description:
        "OpenAI's call: clients for it work unchanged. What is not known here is passed on. Paid when the first token is there; an upstream that fails before costs nothing. With `stream`, the receipt is in the last event before `[DONE]`.",
      access: "public",
      price: chatPrice,
      body: { [JSON_TYPE]: ChatBody },
      replies: {
        200: {
          description: "The answer.",
          headers: ["X-Receipt-Id", "X-Verify-Url"],
          content: { [JSON_TYPE]: ChatCompletion, "text/event-stream": Type.String() },
        },
      },
      refusals: PAID_REFUSALS,
    }),
    postTask: operation({
      operationId: "createTask",
      method: "POST",
      path: "/task-request",
      tag: "Tasks",
      summary: "Have a chat completed later",
      description:
        "The same body, answered at once. Paid when the answer is there, which `status_url` has for 24 hours. A task outlives restarts.",
      access: "public",
      price: taskPrice,
      body: { [JSON_TYPE]: ChatBody },
      replies: { 202: { description: "It runs.", content: { [JSON_TYPE]: AcceptedTask } } },
      refusals: PAID_REFUSALS,
    }),
  };
}

export const AcceptedTask = Type.Object(
  { task_id: text("Names the task; keep it to yourself."), status_url: text("Where its answer will be.") },
  { $id: "AcceptedTask" },
);

export const Task = Type.Object(
  {
    task_id: Type.String(),
    status: word(["running", "done", "failed"], "`failed`: nothing was charged."),
    created_at: moment("When it was accepted."),
    ended_at: nullable(moment("When it ended.")),
    expires_at: moment("Until when it is kept."),
    answer: nullable(ChatCompletion, "The answer, with its receipt."),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() }, OPEN), "Why there is none."),
  },
  { $id: "Task" },
);

export const getTask = operation({
  operationId: "getTask",
  method: "GET",
  path: "/v1/tasks/:task_id",
  parameters: { task_id: "The `task_id` of the reply to `POST /task-request`." },
  tag: "Tasks",
  summary: "What became of a task",
  description: "Free. Who knows the id may read the answer.",
  access: "public",
  replies: { 200: { description: "The task.", headers: ["Cache-Control"], content: { [JSON_TYPE]: Task } } },
  refusals: ["not_found"],
});

export const Quote = Type.Object(
  {
    quote_id: textOrNull("In `extra` of the challenge; null where every call costs the same."),
    amount: text("In atomic units of USDC.", "2000"),
    amount_usd: usd("The same in USD."),
    expires_at: nullable(moment("Until when the price holds.")),
    model: text("The model that was asked for."),
    request_sha256: text("Of the body: the price is for these bytes alone."),
    input_tokens_max: nullable(count("An upper bound of what the model reads.")),
    output_tokens_max: nullable(count("Of all choices together.")),
  },
  { $id: "Quote" },
);

export const postQuote = operation({
  operationId: "createQuote",
  method: "POST",
  path: "/v1/quote",
  tag: "Chat",
  summary: "What a call would cost",
  description: "Free. Send the very body of the call: the price is bound to its bytes for 300 seconds.",
  access: "public",
  body: { [JSON_TYPE]: ChatBody },
  replies: {
    200: { description: "The price.", headers: ["Cache-Control"], content: { [JSON_TYPE]: Quote } },
  },
  refusals: ["invalid_request", "invalid_json", "not_found", "payload_too_large", "unsupported_media_type"],
});

export const ListedModel = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("model"),
    created: Type.Integer(),
    owned_by: Type.String(),
    pricing: Type.Object(
      {
        mode: word(["flat", "cost_plus"], "`flat`: each call costs the same."),
        call_usd: Type.Optional(usd("What a call costs, or at least costs.")),
        input_usd_per_million: Type.Optional(usd("For a million tokens that are read, margin included.")),
        output_usd_per_million: Type.Optional(usd("For a million tokens that are written, margin included.")),
      },
      { description: "What calls of this model cost." },
    ),
    context_length: Type.Optional(Type.Integer({ minimum: 1 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { ...OPEN, $id: "Model" },
);
export type ListedModelView = Static<typeof ListedModel>;

export const listModels = operation({
  operationId: "listModels",
  method: "GET",
  path: "/v1/models",
  tag: "Models",
  summary: "The models that are served, with their prices",
  access: "public",
  replies: {
    200: {
      description: "The models.",
      content: {
        [JSON_TYPE]: Type.Object(
          { object: Type.Literal("list"), data: Type.Array(ListedModel) },
          { $id: "ModelList" },
        ),
      },
    },
  },
  refusals: ["upstream_failed"],
});

export const getModel = operation({
  operationId: "getModel",
  method: "GET",
  path: "/v1/models/*",
  parameters: { "*": "The `id` of a model; it may have slashes." },
  tag: "Models",
  summary: "One model",
  access: "public",
  replies: { 200: { description: "The model.", content: { [JSON_TYPE]: ListedModel } } },
  refusals: ["not_found", "upstream_failed"],
});

export const ReceiptPayload = schemaOf<Receipt>()(
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
      transaction: textOrNull("The transaction that settled the payment, where the facilitator told it."),
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

export const CheckedReceiptView = Type.Object(
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
      content: { [JSON_TYPE]: CheckedReceiptView, "text/html": Type.String() },
    },
  },
  refusals: ["not_found"],
});

export const VerifyBody = described(
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

export const postReceiptVerification = operation({
  operationId: "verifyReceipt",
  method: "POST",
  path: "/v1/receipts/verify",
  tag: "Receipts",
  summary: "Check a receipt, and what you kept of the call",
  description: "Free, and nothing of it is kept.",
  access: "public",
  body: { [JSON_TYPE]: VerifyBody },
  replies: {
    200: {
      description: "What was found.",
      headers: ["Cache-Control"],
      content: {
        [JSON_TYPE]: Type.Object({ valid: Type.Boolean(), checks: Checks }, { $id: "ReceiptVerdict" }),
      },
    },
  },
  refusals: ["invalid_request", "invalid_json", "payload_too_large", "unsupported_media_type"],
});

export const RootsQuery = Type.Object({
  before: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" })),
});

export const listReceiptRoots = operation({
  operationId: "listReceiptRoots",
  method: "GET",
  path: "/v1/receipts/roots",
  tag: "Receipts",
  summary: "The Merkle root of each day's receipts",
  description:
    "The last 100 days, newest first (RFC 9162, SHA-256). A day that has ended never changes: keep its root, and no receipt of it can be removed, changed or moved unseen.",
  access: "public",
  query: described(RootsQuery, { before: "Days before this one, for the next page." }),
  replies: {
    200: {
      description: "The roots.",
      headers: ["Cache-Control"],
      content: {
        [JSON_TYPE]: Type.Object(
          {
            roots: Type.Array(
              Type.Object({
                day: Type.String(),
                receipts: count("How many."),
                root: text("In hex."),
                is_final: Type.Boolean({ description: "Whether the day has ended." }),
                signature: text("A JWS over day, receipts and root."),
              }),
            ),
          },
          { $id: "ReceiptRoots" },
        ),
      },
    },
  },
  refusals: ["invalid_request"],
});

export const getReceiptDay = operation({
  operationId: "getReceiptDay",
  method: "GET",
  path: "/v1/receipts/roots/:day",
  parameters: { day: "`YYYY-MM-DD`, in UTC." },
  tag: "Receipts",
  summary: "The receipts under a root",
  description: "Their ids and hashes in the order of the chain: from them anyone can compute the root.",
  access: "public",
  query: described(Type.Object({ after: Type.Optional(Type.Integer({ minimum: 0 })) }), {
    after: "Positions behind this one, for the next page.",
  }),
  replies: {
    200: {
      description: "Up to 1,000 receipts.",
      content: {
        [JSON_TYPE]: Type.Object(
          {
            day: Type.String(),
            entries: Type.Array(
              Type.Object({
                position: Type.Integer(),
                receipt_id: Type.String(),
                sha256: text("Of the JWS."),
                leaf: text("The hash of its leaf."),
              }),
            ),
            next_after: nullable(Type.Integer()),
          },
          { $id: "ReceiptDay" },
        ),
      },
    },
  },
  refusals: ["not_found"],
});
