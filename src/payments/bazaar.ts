import type { JsonObject } from "../platform/json-value.ts";

/** Describes a paid call to agents, in its challenge. */
export type CallDescription = {
  readonly method: string;
  /** An example and its JSON Schema: of the body of a POST, of the query of a GET. */
  readonly input: { readonly example: JsonObject; readonly schema: JsonObject };
  /** An example of an answer, abridged. */
  readonly output: JsonObject;
};

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/**
 * Returns the extension `bazaar` of x402 version 2: an example of the call and the schema that it fits. It only
 * describes; the challenge leaves it out where it would pass the limit of the header.
 */
export function bazaarExtension({ method, input, output }: CallDescription): JsonObject {
  const place = method === "POST" ? "body" : "queryParams";
  const kind = method === "POST" ? { bodyType: "json" } : {};
  const text = { type: "string" };
  const properties = {
    type: { ...text, const: "http" },
    method: { ...text, enum: [method] },
    ...(method === "POST" ? { bodyType: { ...text, enum: ["json"] } } : {}),
    [place]: input.schema,
  };
  return {
    bazaar: {
      info: {
        input: { type: "http", method, ...kind, [place]: input.example },
        output: { type: "json", example: output },
      },
      schema: {
        $schema: DRAFT,
        type: "object",
        properties: {
          input: { type: "object", properties, required: ["type", "method"], additionalProperties: false },
          output: {
            type: "object",
            properties: { type: text, example: { type: "object" } },
            required: ["type"],
          },
        },
        required: ["input"],
      },
    },
  };
}
