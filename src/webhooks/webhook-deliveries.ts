import { cursorPage } from "../contract/cursor-page.ts";
import { ApiError } from "../contract/errors.ts";
import type { DeliveryBody, DeliveryListBody } from "../contract/specification/webhooks/webhook-replies.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { ReplyOf } from "../store/account-port.ts";
import { TEST_EVENT } from "../store/test-deliveries.ts";
import type { WebhookPort, WebhookRecord } from "../store/webhook-port.ts";
import { KEPT_MS } from "./old-deliveries.ts";
import { deliveryView } from "./webhook-view.ts";

/** The operations of an owner on the deliveries of a webhook. */
export type WebhookDeliveries = {
  /** Sends a test event. */
  readonly test: (
    accountId: string,
    webhookId: string,
    replyOf: ReplyOf<DeliveryBody>,
  ) => Answer<DeliveryBody>;
  readonly deliveries: (
    accountId: string,
    webhookId: string,
    page: { readonly limit: number; readonly startingAfter: string | null },
  ) => Answer<DeliveryListBody>;
  /** Sends a delivery again. */
  readonly replay: (
    accountId: string,
    webhookId: string,
    deliveryId: string,
    replyOf: ReplyOf<DeliveryBody>,
  ) => Answer<DeliveryBody>;
};

export type WebhookDeliveriesDependencies = {
  readonly store: Pick<WebhookPort, "addDelivery" | "deliveryPage" | "replayDelivery">;
  readonly clock: Clock;
  /** Called when a delivery is due now. */
  readonly wake: () => void;
  /** Returns the webhook of an account; throws `not_found`. */
  readonly find: (accountId: string, webhookId: string) => Answer<WebhookRecord>;
};

export function createWebhookDeliveries(dependencies: WebhookDeliveriesDependencies): WebhookDeliveries {
  const { store, clock, wake, find } = dependencies;

  const findEnabled = (accountId: string, webhookId: string): Answer<WebhookRecord> =>
    after(find(accountId, webhookId), (webhook) => {
      if (webhook.disabledReason === null) return webhook;
      throw new ApiError("invalid_request", "The webhook is disabled; enable it first.");
    });

  /** Says of a webhook that was removed or disabled after it was found what is said of any such. */
  const refuseNow = (accountId: string, webhookId: string, otherwise: string): Answer<never> =>
    after(findEnabled(accountId, webhookId), () => {
      throw new ApiError("not_found", otherwise);
    });

  return {
    test: (accountId, webhookId, replyOf) =>
      after(findEnabled(accountId, webhookId), (webhook) => {
        const at = Math.floor(clock.now());
        const event = { type: TEST_EVENT, at, data: { webhook_id: webhookId } };
        const added = store.addDelivery(webhook, event, (delivery) => replyOf(deliveryView(delivery)));
        return after(added, (delivery) => {
          if (delivery === null) return refuseNow(accountId, webhookId, "The account has no such webhook.");
          wake();
          return deliveryView(delivery);
        });
      }),

    deliveries: (accountId, webhookId, { limit, startingAfter }) =>
      after(find(accountId, webhookId), () => {
        const since = Math.floor(clock.now()) - KEPT_MS;
        const page = { webhookId, afterDeliveryId: startingAfter, since, limit: limit + 1 };
        return after(store.deliveryPage(page), (found) => {
          if (found === null) {
            throw new ApiError("invalid_request", "starting_after must be a delivery of the webhook.");
          }
          return cursorPage(found, limit, { view: deliveryView, idOf: ({ deliveryId }) => deliveryId });
        });
      }),

    replay: (accountId, webhookId, deliveryId, replyOf) =>
      after(findEnabled(accountId, webhookId), () => {
        const now = Math.floor(clock.now());
        const put = store.replayDelivery(webhookId, deliveryId, now, (one) => replyOf(deliveryView(one)));
        return after(put, (delivery) => {
          if (delivery === null) {
            return refuseNow(accountId, webhookId, "The webhook has no such delivery.");
          }
          wake();
          return deliveryView(delivery);
        });
      }),
  };
}
