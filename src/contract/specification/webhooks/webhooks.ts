import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../../defaults.ts";
import { Line } from "../../schema.ts";
import {
  CHANGES_ACCOUNT,
  CHANGES_ACCOUNT_ONCE,
  described,
  jsonReply,
  operation,
  READS_ACCOUNT,
} from "../operation.ts";
import {
  CreatedWebhook,
  Delivery,
  DeliveryList,
  RotatedSecret,
  Webhook,
  WebhookList,
} from "./webhook-replies.ts";
import { NothingRequest, RotateSecretRequest, WebhookPatch, WebhookRequest } from "./webhook-requests.ts";

const webhookId = { webhook_id: "The `webhook_id` of a webhook of the account." };
const deliveryId = { ...webhookId, delivery_id: "The `delivery_id` of one of its deliveries." };

const SENDING = {
  ...CHANGES_ACCOUNT_ONCE,
  bodyRequired: false,
  body: { "application/json": NothingRequest },
  replies: { 202: jsonReply("It is being sent.", Delivery) },
  refusals: ["invalid_request", "not_found"],
} as const;

export const createWebhook = operation({
  operationId: "createWebhook",
  method: "POST",
  path: "/v1/webhooks",
  tag: "Webhooks",
  summary: "Receive events",
  description: "Deliveries are signed as Standard Webhooks says. At most 20 webhooks.",
  ...CHANGES_ACCOUNT_ONCE,
  body: { "application/json": WebhookRequest },
  replies: {
    201: jsonReply("The webhook and its secret, shown this once.", CreatedWebhook),
  },
  refusals: ["invalid_request"],
});

export const listWebhooks = operation({
  operationId: "listWebhooks",
  method: "GET",
  path: "/v1/webhooks",
  tag: "Webhooks",
  summary: "The webhooks of the account",
  ...READS_ACCOUNT,
  query: Type.Object({}),
  replies: {
    200: jsonReply("The webhooks, oldest first.", WebhookList),
  },
});

export const changeWebhook = operation({
  operationId: "changeWebhook",
  method: "PATCH",
  path: "/v1/webhooks/:webhook_id",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Change, disable or enable a webhook",
  ...CHANGES_ACCOUNT,
  body: { "application/json": WebhookPatch },
  replies: { 200: jsonReply("The webhook.", Webhook) },
  refusals: ["not_found"],
});

export const deleteWebhook = operation({
  operationId: "deleteWebhook",
  method: "DELETE",
  path: "/v1/webhooks/:webhook_id",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Delete a webhook and its deliveries",
  ...CHANGES_ACCOUNT,
  replies: { 204: { description: "Nothing more is sent to it." } },
  refusals: ["not_found"],
});

export const rotateWebhookSecret = operation({
  operationId: "rotateWebhookSecret",
  method: "POST",
  path: "/v1/webhooks/:webhook_id/rotate-secret",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Exchange the secret",
  description: "During the overlap each delivery carries a signature of both secrets.",
  ...CHANGES_ACCOUNT_ONCE,
  bodyRequired: false,
  body: { "application/json": RotateSecretRequest },
  replies: {
    201: jsonReply("The new secret, shown this once.", RotatedSecret),
  },
  refusals: ["not_found"],
});

export const testWebhook = operation({
  operationId: "testWebhook",
  method: "POST",
  path: "/v1/webhooks/:webhook_id/test",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Send `webhook.test`",
  description: "Whatever events it asked for; not to one that is disabled.",
  ...SENDING,
});

export const listDeliveries = operation({
  operationId: "listDeliveries",
  method: "GET",
  path: "/v1/webhooks/:webhook_id/deliveries",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Deliveries of the last 30 days, newest first",
  ...READS_ACCOUNT,
  query: described(
    Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      starting_after: Type.Optional(Line(100)),
    }),
    {
      limit: `Deliveries on a page; ${DEFAULTS.deliveriesLimit} where it is not named.`,
      starting_after: "The `next_cursor` of the page before.",
    },
  ),
  replies: { 200: jsonReply("A page.", DeliveryList) },
  refusals: ["invalid_request", "not_found"],
});

export const replayDelivery = operation({
  operationId: "replayDelivery",
  method: "POST",
  path: "/v1/webhooks/:webhook_id/deliveries/:delivery_id/replay",
  parameters: deliveryId,
  tag: "Webhooks",
  summary: "Send a delivery again",
  description: "With the same `webhook-id`, at once and then by the schedule from its beginning.",
  ...SENDING,
});
