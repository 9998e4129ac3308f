import { secondOf } from "../billing/period.ts";
import type { DeliveryBody, WebhookBody } from "../contract/specification/webhooks/webhook-replies.ts";
import { WEBHOOK_EVENTS } from "../contract/words.ts";
import type { DeliveryRecord, WebhookRecord } from "../store/webhook-port.ts";

/** Returns a webhook on the wire, without its secret. */
export function webhookView(webhook: WebhookRecord): WebhookBody {
  const { webhookId, url, events, description, disabledReason, failingSince, createdAt } = webhook;
  return {
    webhook_id: webhookId,
    url,
    events: WEBHOOK_EVENTS.filter((event) => events === null || events.includes(event)),
    description,
    enabled: disabledReason === null,
    disabled_reason: disabledReason,
    failing_since: moment(failingSince),
    created_at: secondOf(createdAt),
  };
}

/** Returns a delivery on the wire. */
export function deliveryView(delivery: DeliveryRecord): DeliveryBody {
  const { deliveryId, eventId, type, url, createdAt, state, attempts, lastAttemptAt } = delivery;
  const { status, error, latencyMs, answer, nextAttemptAt } = delivery;
  const event = WEBHOOK_EVENTS.find((word) => word === type);
  if (event === undefined) throw new Error(`a delivery names ${type}, which is no event`);
  return {
    delivery_id: deliveryId,
    event_id: eventId,
    type: event,
    url,
    created_at: secondOf(createdAt),
    state,
    attempts,
    last_attempt_at: moment(lastAttemptAt),
    status,
    error,
    latency_ms: lastAttemptAt === null ? null : latencyMs,
    answer,
    next_attempt_at: moment(nextAttemptAt),
  };
}

function moment(at: number | null): string | null {
  return at === null ? null : secondOf(at);
}
