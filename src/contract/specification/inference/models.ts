import { type Static, Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { usd, word } from "../reply-schema.ts";

const OPEN = { additionalProperties: true };

const ListedModel = Type.Object(
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

const ModelList = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(ListedModel) },
  { $id: "ModelList" },
);

export const listModels = operation({
  operationId: "listModels",
  method: "GET",
  path: "/v1/models",
  tag: "Models",
  summary: "The models that are served, with their prices",
  access: "public",
  replies: { 200: jsonReply("The models.", ModelList) },
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
  replies: { 200: jsonReply("The model.", ListedModel) },
  refusals: ["not_found", "upstream_failed"],
});
