import { Type } from "@sinclair/typebox";
import { described } from "../operation.ts";
import { nullable, text } from "../reply-schema.ts";

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
