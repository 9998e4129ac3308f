import { DELIVERIES_AT_ONCE_MAX } from "../../delivery-steps.ts";
import type { WebhookChange, WebhookRecord } from "../../webhook-port.ts";
import type { DeliveryStatements } from "./delivery-statements.ts";
import type { WebhookStatements } from "./webhook-statements.ts";

type ChangeStatements = {
  readonly webhooks: Pick<WebhookStatements, "change" | "queue" | "hasten">;
  readonly deliveries: Pick<DeliveryStatements, "giveUp">;
};

/** Changes a webhook. Of one that is disabled by it deliveries are given up. Part of a transaction. */
export function applyChange(
  statements: ChangeStatements,
  before: WebhookRecord,
  change: WebhookChange,
): void {
  statements.webhooks.change(before.webhookId, change);
  if (before.disabledReason !== null || (change.disabledReason ?? null) === null) return;
  giveUpPending(statements, before.webhookId, 0);
}

/**
 * Gives up what waits for a disabled webhook. Where that is more than one transaction may give up, it has its next turn at
 * `at`, for the rest.
 */
export function giveUpPending(
  { webhooks, deliveries }: ChangeStatements,
  webhookId: string,
  at: number,
): void {
  const isLeft = deliveries.giveUp(webhookId, DELIVERIES_AT_ONCE_MAX) === DELIVERIES_AT_ONCE_MAX;
  webhooks.queue(webhookId, at);
  if (isLeft) webhooks.hasten(webhookId, at);
}
