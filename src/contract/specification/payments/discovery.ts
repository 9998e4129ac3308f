import { Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { text } from "../reply-schema.ts";

/** The manifest of a paid service, in the form that is deployed widely. */
const Manifest = Type.Object(
  {
    version: Type.Literal(1),
    resources: Type.Array(Type.String(), { description: "The addresses that are paid." }),
    instructions: text("What to know before calling, in Markdown."),
  },
  { $id: "Manifest" },
);

export const getManifest = operation({
  operationId: "getManifest",
  method: "GET",
  path: "/.well-known/x402",
  tag: "Operation",
  summary: "The resources that are paid",
  access: "public",
  replies: { 200: jsonReply("The manifest.", Manifest) },
});
