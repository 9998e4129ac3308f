import { Type } from "@sinclair/typebox";
import { jsonReply, operation, type Price } from "../operation.ts";
import { count, moment, nullable, text, textOrNull, usd } from "../reply-schema.ts";
import { ChatBody, ChatCompletion } from "./chat-schema.ts";
import { AcceptedTask } from "./tasks.ts";

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
      body: { "application/json": ChatBody },
      replies: {
        200: {
          description: "The answer.",
          headers: ["X-Receipt-Id", "X-Verify-Url"],
          content: { "application/json": ChatCompletion, "text/event-stream": Type.String() },
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
      body: { "application/json": ChatBody },
      replies: { 202: jsonReply("It runs.", AcceptedTask) },
      refusals: PAID_REFUSALS,
    }),
  };
}

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
  body: { "application/json": ChatBody },
  replies: {
    200: jsonReply("The price.", Quote, ["Cache-Control"]),
  },
  refusals: ["invalid_request", "invalid_json", "not_found", "payload_too_large", "unsupported_media_type"],
});
