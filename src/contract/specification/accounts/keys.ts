import { Type } from "@sinclair/typebox";
import { CHANGES_ACCOUNT, CHANGES_ACCOUNT_ONCE, jsonReply, operation } from "../operation.ts";
import { CreatedKey, KeyList, RotatedKey } from "./account-replies.ts";
import { KeyRequest, RotateRequest } from "./account-requests.ts";

const ROTATION = {
  ...CHANGES_ACCOUNT_ONCE,
  bodyRequired: false,
  body: { "application/json": RotateRequest },
  replies: { 201: jsonReply("The new key.", RotatedKey) },
} as const;

export const rotateKey = operation({
  operationId: "rotateKey",
  method: "POST",
  path: "/v1/account/keys/rotate",
  tag: "Account",
  summary: "Exchange the key",
  description:
    "Gives a new key. The old one ends after the overlap. With an Idempotency-Key the reply is kept encrypted with the key of the call, and replayed to that key alone: until 15 minutes after it has ended, should the reply have been lost.",
  ...ROTATION,
  samples: {
    overlap: { summary: "With a day to change over", status: 201, body: { overlap_seconds: 86_400 } },
    bad_overlap: { summary: "Too long", status: 400, body: { overlap_seconds: 9_999_999 } },
  },
});

export const listKeys = operation({
  operationId: "listKeys",
  method: "GET",
  path: "/v1/account/keys",
  tag: "Account",
  summary: "The keys of the account",
  description:
    "Those that work, and the last 500 of those that ended in the last 30 days. The keys themselves are shown once.",
  ...CHANGES_ACCOUNT,
  query: Type.Object({}),
  replies: { 200: jsonReply("The keys, oldest first.", KeyList) },
});

export const createKey = operation({
  operationId: "createKey",
  method: "POST",
  path: "/v1/account/keys",
  tag: "Account",
  summary: "Make another key",
  description:
    "Scopes: `verify` for checks and batches, `read` to read the account, its usage and invoices, `account` for all; all of them unless it says otherwise. At most 100 keys work.",
  ...CHANGES_ACCOUNT_ONCE,
  bodyRequired: false,
  body: { "application/json": KeyRequest },
  replies: {
    201: jsonReply("The key, shown this once.", CreatedKey),
  },
});

const keyId = { key_id: "The `key_id` of a key that works." };

export const rotateKeyById = operation({
  operationId: "rotateKeyById",
  method: "POST",
  path: "/v1/account/keys/:key_id/rotate",
  parameters: keyId,
  tag: "Account",
  summary: "Exchange a key of the account",
  description: "The new key has the name and the scopes of the old one, which ends after the overlap.",
  ...ROTATION,
  refusals: ["not_found"],
});

export const deleteKey = operation({
  operationId: "deleteKey",
  method: "DELETE",
  path: "/v1/account/keys/:key_id",
  parameters: keyId,
  tag: "Account",
  summary: "End a key of the account at once",
  description:
    "The last key with the scope `account` cannot be deleted. A key that has an end counts as one until then.",
  ...CHANGES_ACCOUNT,
  replies: { 204: { description: "The key is refused from now on." } },
  refusals: ["invalid_request", "not_found"],
});
