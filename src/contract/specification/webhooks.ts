import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../defaults.ts";
import { Line } from "../schema.ts";
import { WEBHOOK_EVENTS } from "../words.ts";
import { described, operation } from "./operation.ts";
import { type Body, count, moment, nullable, text, textOrNull, word, wordOrNull } from "./reply-schema.ts";

const webhookFields = {
  webhook_id: text("The webhook's name in this API."),
  url: text("Where events are sent."),
  events: Type.Array(word(WEBHOOK_EVENTS, "An event."), { description: "The events that it gets." }),
  description: textOrNull("As given when it was made."),
  enabled: Type.Boolean({ description: "Whether events are sent." }),
  disabled_reason: wordOrNull(
    ["by_caller", "gone", "failing"],
    "`by_caller`, `gone` (it answered 410) or `failing` (no success in five days); null while enabled.",
  ),
  failing_since: nullable(moment("Since when nothing succeeds."), "Since when nothing succeeds, or null."),
  created_at: moment("When it was made."),
};

export const Webhook = Type.Object(webhookFields, { $id: "Webhook" });
export type WebhookBody = Body<typeof Webhook>;

export const WebhookList = Type.Object({ data: Type.Array(Webhook) }, { $id: "WebhookList" });

const secret = Type.String({
  pattern: "^whsec_[0-9A-Za-z+/]{32,}={0,2}$",
  description: "What the deliveries are signed with, shown this once.",
});

export const CreatedWebhook = Type.Object({ ...webhookFields, secret }, { $id: "CreatedWebhook" });
export type CreatedWebhookBody = Body<typeof CreatedWebhook>;

export const RotatedSecret = Type.Object(
  { secret, old_secret_expires_at: moment("Until then the old secret signs, too.") },
  { $id: "RotatedSecret" },
);
export type RotatedSecretBody = Body<typeof RotatedSecret>;

export const Delivery = Type.Object(
  {
    delivery_id: text("The delivery's name in this API."),
    event_id: text("`webhook-id`: the same for all attempts, replays and webhooks."),
    type: word(WEBHOOK_EVENTS, "The event."),
    url: textOrNull("A job's `webhook_url`; null for the webhook's own address."),
    created_at: moment("When it happened."),
    state: word(["pending", "sending", "delivered", "failed"], "What became of it."),
    attempts: count("Attempts so far."),
    last_attempt_at: nullable(moment("Of the last attempt."), "Of the last attempt, or null."),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: "The HTTP status of the last answer; null where there was none.",
    }),
    error: textOrNull("What went wrong where there was no whole answer, such as `connect_timeout`."),
    latency_ms: Type.Union([Type.Integer(), Type.Null()], { description: "Of the last attempt." }),
    answer: textOrNull("The first 1,024 bytes of the last answer."),
    next_attempt_at: nullable(
      moment("Of the next attempt."),
      "Of the next attempt; null where none follows.",
    ),
  },
  { $id: "WebhookDelivery" },
);
export type DeliveryBody = Body<typeof Delivery>;

export const DeliveryList = Type.Object(
  {
    data: Type.Array(Delivery),
    has_more: Type.Boolean({ description: "Whether older ones follow." }),
    next_cursor: textOrNull("For `starting_after`."),
  },
  { $id: "WebhookDeliveryPage" },
);
export type DeliveryListBody = Body<typeof DeliveryList>;

/** What the document names. */
export const WEBHOOK_REPLIES = [
  Webhook,
  WebhookList,
  CreatedWebhook,
  RotatedSecret,
  Delivery,
  DeliveryList,
] as const;

const Url = Type.String({ minLength: 1, maxLength: 2_000 });
const Events = Type.Array(
  Type.String({
    enum: [...WEBHOOK_EVENTS],
    pattern: `^(?:${WEBHOOK_EVENTS.join("|").replaceAll(".", "\\.")})$`,
  }),
  { minItems: 1, maxItems: 100, demand: "must list one event or more" },
);

export const WebhookRequest = described(
  Type.Object({
    url: Url,
    events: Type.Optional(Events),
    description: Type.Optional(Line(200)),
  }),
  {
    url: "An https address with a public name.",
    events: "The events that it gets; all unless named.",
    description: "For your own lists.",
  },
  "WebhookRequest",
);

export const WebhookPatch = described(
  Type.Object({
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    enabled: Type.Optional(Type.Boolean()),
  }),
  {
    url: "An https address with a public name. Events are sent there from now on, retries included.",
    events: "The events that it gets from now on.",
    enabled: "`false` ends the retries that wait; `true` begins anew.",
  },
  "WebhookPatch",
);

export const RotateSecretRequest = described(
  Type.Object({ overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_592_000 })) }),
  {
    overlap_seconds: `How long the old secret signs beside the new one; ${DEFAULTS.overlapSeconds} where it is not named.`,
  },
  "RotateSecretRequest",
);

/** Of calls that say all with their path. */
export const NothingRequest = Type.Object({}, { $id: "NothingRequest" });

export const WEBHOOK_REQUESTS = [WebhookRequest, WebhookPatch, RotateSecretRequest, NothingRequest] as const;

const webhookId = { webhook_id: "The `webhook_id` of a webhook of the account." };
const deliveryId = { ...webhookId, delivery_id: "The `delivery_id` of one of its deliveries." };

export const createWebhook = operation({
  operationId: "createWebhook",
  method: "POST",
  path: "/v1/webhooks",
  tag: "Webhooks",
  summary: "Receive events",
  description: "Deliveries are signed as Standard Webhooks says. At most 20 webhooks.",
  access: "key",
  scopes: ["account"],
  idempotent: true,
  body: { "application/json": WebhookRequest },
  replies: {
    201: {
      description: "The webhook and its secret, shown this once.",
      content: { "application/json": CreatedWebhook },
    },
  },
  refusals: ["invalid_request"],
});

export const listWebhooks = operation({
  operationId: "listWebhooks",
  method: "GET",
  path: "/v1/webhooks",
  tag: "Webhooks",
  summary: "The webhooks of the account",
  access: "key",
  scopes: ["read"],
  query: Type.Object({}),
  replies: {
    200: { description: "The webhooks, oldest first.", content: { "application/json": WebhookList } },
  },
});

export const changeWebhook = operation({
  operationId: "changeWebhook",
  method: "PATCH",
  path: "/v1/webhooks/:webhook_id",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Change, disable or enable a webhook",
  access: "key",
  scopes: ["account"],
  body: { "application/json": WebhookPatch },
  replies: { 200: { description: "The webhook.", content: { "application/json": Webhook } } },
  refusals: ["not_found"],
});

export const deleteWebhook = operation({
  operationId: "deleteWebhook",
  method: "DELETE",
  path: "/v1/webhooks/:webhook_id",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Delete a webhook and its deliveries",
  access: "key",
  scopes: ["account"],
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
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": RotateSecretRequest },
  replies: {
    201: {
      description: "The new secret, shown this once.",
      content: { "application/json": RotatedSecret },
    },
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
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": NothingRequest },
  replies: { 202: { description: "It is being sent.", content: { "application/json": Delivery } } },
  refusals: ["invalid_request", "not_found"],
});

export const listDeliveries = operation({
  operationId: "listDeliveries",
  method: "GET",
  path: "/v1/webhooks/:webhook_id/deliveries",
  parameters: webhookId,
  tag: "Webhooks",
  summary: "Deliveries of the last 30 days, newest first",
  access: "key",
  scopes: ["read"],
  query: described(
    Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      starting_after: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    {
      limit: `Deliveries on a page; ${DEFAULTS.deliveriesLimit} where it is not named.`,
      starting_after: "The `next_cursor` of the page before.",
    },
  ),
  replies: { 200: { description: "A page.", content: { "application/json": DeliveryList } } },
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
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": NothingRequest },
  replies: { 202: { description: "It is being sent.", content: { "application/json": Delivery } } },
  refusals: ["invalid_request", "not_found"],
});
