import type { AtOnce } from "../../../platform/answer.ts";
import { changeByAttempt } from "../../attempt-change.ts";
import { jobEvent } from "../../job-event.ts";
import type { JobRecord } from "../../job-records.ts";
import { removesPauses } from "../../paused-deliveries.ts";
import { TEST_DELIVERIES_MAX } from "../../test-deliveries.ts";
import type { NewEvent, WebhookPort, WebhookRecord } from "../../webhook-port.ts";
import type { AccountStatements } from "../accounts/account-statements.ts";
import { requireUnerased } from "../accounts/erased-account.ts";
import type { Transact } from "../connection/connection.ts";
import type { ReplyStatements } from "../reply-statements.ts";
import type { DeliveryStatements } from "./delivery-statements.ts";
import { applyChange, giveUpPending } from "./webhook-change.ts";
import type { WebhookStatements } from "./webhook-statements.ts";

/** What an event is written with. */
export type EventStatements = {
  readonly webhooks: WebhookStatements;
  readonly deliveries: DeliveryStatements;
};

/** Webhooks, and the queue of their deliveries. */
export function createWebhookCases(
  statements: EventStatements & {
    readonly replies: ReplyStatements;
    readonly accounts: Pick<AccountStatements, "find">;
  },
  transact: Transact,
): AtOnce<WebhookPort> {
  const { webhooks, deliveries, replies, accounts } = statements;
  const owned = (accountId: string, webhookId: string): WebhookRecord | null => {
    const found = webhooks.find(webhookId);
    return found?.accountId === accountId ? found : null;
  };
  return {
    createWebhook: (webhook, webhooksMax, reply) =>
      transact(() => {
        requireUnerased(accounts, webhook.accountId);
        if (webhooks.ofAccount(webhook.accountId).length >= webhooksMax) return false;
        webhooks.insert(webhook);
        if (reply !== null) replies.put(reply);
        return true;
      }),
    findWebhook: owned,
    webhooksOf: webhooks.ofAccount,
    changeWebhook: (accountId, webhookId, changeOf, replyOf) =>
      transact(() => {
        const before = owned(accountId, webhookId);
        if (before === null) return null;
        applyChange(statements, before, changeOf(before));
        const after = owned(accountId, webhookId) ?? before;
        const reply = replyOf(after);
        if (reply !== null) replies.put(reply);
        return after;
      }),
    removeWebhook: (accountId, webhookId) =>
      transact(() => {
        if (owned(accountId, webhookId) === null) return false;
        webhooks.remove(webhookId);
        return true;
      }),
    addDelivery: (webhook, event, replyOf) =>
      transact(() => {
        if (owned(webhook.accountId, webhook.webhookId)?.disabledReason !== null) return null;
        // The new one is not among them: where the clock was set back it would be the oldest.
        deliveries.removeTests(webhook.webhookId, TEST_DELIVERIES_MAX - 1);
        const delivery = deliver(statements, webhook, event, deliveries.newEventId(), null);
        const reply = replyOf(delivery);
        if (reply !== null) replies.put(reply);
        return delivery;
      }),
    deliveryPage: (page) => {
      const { afterDeliveryId, webhookId } = page;
      const after = afterDeliveryId === null ? undefined : deliveries.find(afterDeliveryId);
      if (afterDeliveryId !== null && after?.webhookId !== webhookId) return null;
      return deliveries.page(page, after);
    },
    replayDelivery: (webhookId, deliveryId, at, replyOf) =>
      transact(() => {
        if (webhooks.find(webhookId)?.disabledReason !== null) return null;
        if (deliveries.find(deliveryId)?.webhookId !== webhookId) return null;
        deliveries.replay(deliveryId, at);
        webhooks.hasten(webhookId, at);
        const delivery = deliveries.find(deliveryId) ?? null;
        const reply = delivery === null ? null : replyOf(delivery);
        if (reply !== null) replies.put(reply);
        return delivery;
      }),
    claimDelivery: (now, exceptAccounts) => {
      // Looked for every half second: a transaction is begun only where there is something to claim.
      if (webhooks.isNoneDue(now) || webhooks.firstDue(now, exceptAccounts) === undefined) return null;
      return transact(() => {
        for (;;) {
          const webhook = webhooks.firstDue(now, exceptAccounts);
          if (webhook === undefined) return null;
          const delivery = deliveries.nextOf(webhook.webhookId);
          if (delivery !== undefined && delivery.url === null && webhook.disabledReason !== null) {
            giveUpPending(statements, webhook.webhookId, now + 1);
            continue;
          }
          const isDue = delivery !== undefined && (delivery.nextAttemptAt ?? 0) <= now;
          const claimed = isDue ? deliveries.claim(delivery) : null;
          // Its next turn comes behind the webhooks that wait already.
          webhooks.queue(webhook.webhookId, now);
          if (claimed !== null) return { delivery: claimed, webhook };
        }
      }, "with_sync");
    },
    recallDeliveries: (now, latest, limit) =>
      transact(() => {
        const turns = webhooks.recall(now, latest, limit);
        const recalled = deliveries.recall(now, latest, limit - turns);
        for (const webhookId of new Set(recalled)) webhooks.hasten(webhookId, now);
        return turns + recalled.length;
      }),
    nextDueAt: webhooks.nextDueAt,
    endAttempt: ({ deliveryId, claims }, at, outcome, end) =>
      transact(() => {
        const delivery = deliveries.find(deliveryId);
        if (delivery?.state !== "sending" || delivery.claims !== claims) return;
        const webhook = webhooks.find(delivery.webhookId);
        if (webhook === undefined) return;
        const change = changeByAttempt(end, webhook);
        applyChange(statements, webhook, change);
        const isDisabled = (change.disabledReason ?? webhook.disabledReason) !== null;
        const isGivenUp = end.state === "pending" && isDisabled && delivery.url === null;
        const last = isGivenUp ? { ...end, state: "failed" as const, nextAttemptAt: null } : end;
        deliveries.end(delivery, at, outcome, last);
        if (last.nextAttemptAt !== null) webhooks.hasten(webhook.webhookId, last.nextAttemptAt);
        // An attempt that a power failure makes forgotten is made again, under the same id.
      }, "with_sync"),
    reapDeliveries: () =>
      transact(() => {
        const claimed = deliveries.sending();
        for (const { deliveryId, webhookId, nextAttemptAt } of claimed) {
          deliveries.release(deliveryId);
          webhooks.hasten(webhookId, nextAttemptAt ?? 0);
        }
        for (const webhookId of new Set(claimed.map((delivery) => delivery.webhookId))) {
          if ((webhooks.find(webhookId)?.disabledReason ?? null) !== null)
            giveUpPending(statements, webhookId, 0);
        }
        return claimed.length;
      }),
    removeDeliveries: (before, limit) =>
      transact(() => {
        const left = webhooks.removeLeft(limit);
        return left === limit ? left : left + deliveries.removeOld(before, limit - left);
      }, "with_sync"),
  };
}

/** Writes an event for every webhook of an account that is enabled and wants it. Part of a transaction. */
export function emit(
  statements: EventStatements,
  accountId: string,
  event: NewEvent,
  oneOffUrl: string | null = null,
): void {
  const { webhooks, deliveries } = statements;
  const all = webhooks.ofAccount(accountId);
  const eventId = all.length === 0 ? "" : deliveries.newEventId();
  for (const webhook of all) {
    const isWanted = webhook.events === null || webhook.events.includes(event.type);
    if (webhook.disabledReason === null && isWanted) deliver(statements, webhook, event, eventId, null);
  }
  const [first] = all;
  if (oneOffUrl !== null && first !== undefined) deliver(statements, first, event, eventId, oneOffUrl);
}

/** Writes the event that a job's change of state is. Part of the transaction of the change. */
export function emitJobEvent(statements: EventStatements, job: JobRecord, at: number): void {
  const event = jobEvent(job, at);
  if (event !== null) emit(statements, job.accountId, event, job.webhookUrl);
}

function deliver(
  { webhooks, deliveries }: EventStatements,
  webhook: WebhookRecord,
  { type, at, data }: NewEvent,
  eventId: string,
  url: string | null,
) {
  const { webhookId, accountId } = webhook;
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const delivery = deliveries.insert({ webhookId, accountId, url, eventId, type, body, createdAt: at });
  if (removesPauses(delivery)) deliveries.removePauses(webhookId, delivery.deliveryId);
  webhooks.hasten(webhookId, at);
  return delivery;
}
