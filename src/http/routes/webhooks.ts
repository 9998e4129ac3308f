import { DEFAULTS } from "../../contract/defaults.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  rotateWebhookSecret,
  testWebhook,
} from "../../contract/specification/webhooks/webhooks.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import type { AccountRouting } from "../account-routes.ts";
import type { Call } from "../call.ts";
import type { Route } from "../routing.ts";

export type WebhookRouteDependencies = {
  readonly accountRouting: AccountRouting;
  readonly webhooks: Webhooks;
};

/** Webhooks of an account, and what was delivered to them. */
export function webhookRoutes(dependencies: WebhookRouteDependencies): readonly Route[] {
  const { accountRouting, webhooks } = dependencies;
  const { read, change, remove } = accountRouting;
  return [
    change(createWebhook, {
      status: 201,
      make: ({ accountId }, { url, events, description }, replyOf) =>
        webhooks.create(
          accountId,
          { url, events: events ?? null, description: description ?? null },
          replyOf,
        ),
      viewOf: (created) => created,
      secret: false,
    }),
    read(listWebhooks, ({ accountId }) => webhooks.list(accountId)),
    change(changeWebhook, {
      status: 200,
      make: ({ accountId }, fields, replyOf, call) =>
        webhooks.change(accountId, webhookOf(call), fields, replyOf),
      viewOf: (webhook) => webhook,
      secret: false,
    }),
    remove(deleteWebhook, ({ accountId }, call) => webhooks.remove(accountId, webhookOf(call))),
    change(rotateWebhookSecret, {
      status: 201,
      make: ({ accountId }, { overlap_seconds }, replyOf, call) =>
        webhooks.rotateSecret(
          accountId,
          webhookOf(call),
          overlap_seconds ?? DEFAULTS.overlapSeconds,
          replyOf,
        ),
      viewOf: (rotated) => rotated,
      secret: false,
    }),
    change(testWebhook, {
      status: 202,
      make: ({ accountId }, _, replyOf, call) => webhooks.test(accountId, webhookOf(call), replyOf),
      viewOf: (delivery) => delivery,
      secret: false,
    }),
    read(listDeliveries, ({ accountId }, { limit, starting_after }, call) =>
      webhooks.deliveries(accountId, webhookOf(call), {
        limit: limit ?? DEFAULTS.deliveriesLimit,
        startingAfter: starting_after ?? null,
      }),
    ),
    change(replayDelivery, {
      status: 202,
      make: ({ accountId }, _, replyOf, call) =>
        webhooks.replay(accountId, webhookOf(call), call.params.delivery_id ?? "", replyOf),
      viewOf: (delivery) => delivery,
      secret: false,
    }),
  ];
}

function webhookOf({ params }: Call): string {
  return params.webhook_id ?? "";
}
