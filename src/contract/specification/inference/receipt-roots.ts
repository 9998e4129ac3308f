import { Type } from "@sinclair/typebox";
import { described, jsonReply, operation } from "../operation.ts";
import { count, nullable, text } from "../reply-schema.ts";

const RootsQuery = Type.Object({
  before: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" })),
});

const ReceiptRoots = Type.Object(
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
);

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
  replies: { 200: jsonReply("The roots.", ReceiptRoots, ["Cache-Control"]) },
  refusals: ["invalid_request"],
});

const ReceiptDay = Type.Object(
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
);

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
  replies: { 200: jsonReply("Up to 1,000 receipts.", ReceiptDay) },
  refusals: ["not_found"],
});
