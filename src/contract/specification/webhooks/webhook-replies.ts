import { Type } from "@sinclair/typebox";
import { WEBHOOK_EVENTS } from "../../words.ts";
import { type Body, count, moment, nullable, text, textOrNull, word, wordOrNull } from "../reply-schema.ts";

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
