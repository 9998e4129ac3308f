import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notInArray,
  or,
  sql,
} from "drizzle-orm";
import type { DeliveryRecord, WebhookPort, WebhookRecord } from "../webhook-port.ts";
import { putReply, SERVER_NOW } from "./account-rows.ts";
import type { Connection } from "./connection.ts";
import { hasEnded } from "./job-rows.ts";
import type { Orm } from "./orm.ts";
import { webhookDeliveries as deliveries, webhooks } from "./schema.ts";
import {
  applyChange,
  DELIVERY_COLUMNS,
  deliver,
  hasten,
  insertWebhook,
  isPending,
  lockWebhook,
  newEventId,
  queueWebhook,
  readWebhook,
  releaseDeliveries,
  webhooksOf,
} from "./webhook-rows.ts";

/** Longer than an attempt may take: a process that did not end it by then is gone. */
const LEASE_MS = 30_000;

/** Webhooks, and the queue of their deliveries that all nodes send from. `processId` is of this process alone. */
export function createWebhookCases(connection: Connection, processId: string): WebhookPort {
  return { ...ownerCases(connection), ...deliveryCases(connection), ...queueCases(connection, processId) };
}

type OwnerCases = Pick<
  WebhookPort,
  "createWebhook" | "findWebhook" | "webhooksOf" | "changeWebhook" | "removeWebhook"
>;

function ownerCases({ transact, read }: Connection): OwnerCases {
  async function lockOwned(orm: Orm, accountId: string, webhookId: string): Promise<WebhookRecord | null> {
    const found = await lockWebhook(orm, webhookId);
    return found?.accountId === accountId ? found : null;
  }

  return {
    createWebhook: (webhook, reply) =>
      transact(async (orm) => {
        await insertWebhook(orm, webhook);
        await putReply(orm, reply);
      }),

    findWebhook: (accountId, webhookId) =>
      read(async (orm) => {
        const [row] = await orm
          .select()
          .from(webhooks)
          .where(and(eq(webhooks.webhookId, webhookId), eq(webhooks.accountId, accountId)));
        return row === undefined ? null : readWebhook(row);
      }),

    webhooksOf: (accountId) => read((orm) => webhooksOf(orm, accountId)),

    changeWebhook: (accountId, webhookId, change, replyOf) =>
      transact(async (orm) => {
        const before = await lockOwned(orm, accountId, webhookId);
        if (before === null) return null;
        await applyChange(orm, before, change);
        const after = (await lockOwned(orm, accountId, webhookId)) ?? before;
        await putReply(orm, replyOf(after));
        return after;
      }),

    removeWebhook: (accountId, webhookId) =>
      transact(async (orm) => {
        if ((await lockOwned(orm, accountId, webhookId)) === null) return false;
        await orm.delete(deliveries).where(eq(deliveries.webhookId, webhookId));
        await orm.delete(webhooks).where(eq(webhooks.webhookId, webhookId));
        return true;
      }),
  };
}

async function findDelivery(orm: Orm, deliveryId: string): Promise<DeliveryRecord | undefined> {
  const [row] = await orm
    .select(DELIVERY_COLUMNS)
    .from(deliveries)
    .where(eq(deliveries.deliveryId, deliveryId));
  return row;
}

function deliveryCases({
  transact,
  read,
}: Connection): Pick<WebhookPort, "addDelivery" | "deliveryPage" | "replayDelivery" | "removeDeliveries"> {
  return {
    addDelivery: (webhook, event, replyOf) =>
      transact(async (orm) => {
        const delivery = await deliver(orm, webhook, event, await newEventId(orm), null);
        await putReply(orm, replyOf(delivery));
        return delivery;
      }),

    deliveryPage: ({ webhookId, afterDeliveryId, since, limit }) =>
      read(async (orm) => {
        const after = afterDeliveryId === null ? undefined : await findDelivery(orm, afterDeliveryId);
        if (afterDeliveryId !== null && after?.webhookId !== webhookId) return null;
        const isBehind =
          after === undefined
            ? undefined
            : or(
                lt(deliveries.createdAt, after.createdAt),
                and(eq(deliveries.createdAt, after.createdAt), lt(deliveries.deliveryId, after.deliveryId)),
              );
        return orm
          .select(DELIVERY_COLUMNS)
          .from(deliveries)
          .where(and(eq(deliveries.webhookId, webhookId), gte(deliveries.createdAt, since), isBehind))
          .orderBy(desc(deliveries.createdAt), desc(deliveries.deliveryId))
          .limit(limit);
      }),

    replayDelivery: (webhookId, deliveryId, at, replyOf) =>
      transact(async (orm) => {
        await lockWebhook(orm, webhookId);
        if ((await findDelivery(orm, deliveryId))?.webhookId !== webhookId) return null;
        await orm
          .update(deliveries)
          .set({ state: "pending", scheduled: 0, nextAttemptAt: at })
          .where(and(eq(deliveries.deliveryId, deliveryId), ne(deliveries.state, "sending")));
        await hasten(orm, webhookId, at);
        const delivery = (await findDelivery(orm, deliveryId)) ?? null;
        if (delivery !== null) await putReply(orm, replyOf(delivery));
        return delivery;
      }),

    removeDeliveries: (before, limit) =>
      transact(async (orm) => {
        const old = orm
          .select({ deliveryId: deliveries.deliveryId })
          .from(deliveries)
          .where(and(lt(deliveries.createdAt, before), isNull(deliveries.nextAttemptAt)))
          .orderBy(asc(deliveries.createdAt))
          .limit(limit)
          .for("update", { skipLocked: true });
        const removed = await orm
          .delete(deliveries)
          .where(inArray(deliveries.deliveryId, old))
          .returning({ deliveryId: deliveries.deliveryId });
        return removed.length;
      }),
  };
}

type QueueCases = Pick<WebhookPort, "claimDelivery" | "nextDueAt" | "endAttempt" | "reapDeliveries">;

function queueCases({ transact, read }: Connection, processId: string): QueueCases {
  const isDue = (now: number, exceptAccounts: readonly string[]) =>
    and(
      isNotNull(webhooks.dueAt),
      lte(webhooks.dueAt, now),
      exceptAccounts.length === 0 ? undefined : notInArray(webhooks.accountId, [...exceptAccounts]),
    );
  const inTurn = (orm: Orm, now: number, exceptAccounts: readonly string[]) =>
    orm.select().from(webhooks).where(isDue(now, exceptAccounts)).orderBy(asc(webhooks.dueAt)).limit(1);

  return {
    claimDelivery: async (now, exceptAccounts) => {
      // Looked for every half second: a transaction is begun only where there is something to claim.
      if ((await read((orm) => inTurn(orm, now, exceptAccounts))).length === 0) return null;
      return transact(async (orm) => {
        for (;;) {
          const turn = inTurn(orm, now, exceptAccounts);
          const [webhook] = await turn.for("no key update", { skipLocked: true });
          if (webhook === undefined) return null;
          const { webhookId } = webhook;
          const [delivery] = await orm
            .select(DELIVERY_COLUMNS)
            .from(deliveries)
            .where(and(eq(deliveries.webhookId, webhookId), isPending))
            .orderBy(asc(deliveries.nextAttemptAt))
            .limit(1);
          const isReady = delivery !== undefined && (delivery.nextAttemptAt ?? 0) <= now;
          if (isReady) {
            await orm
              .update(deliveries)
              .set({
                state: "sending",
                owner: processId,
                leaseUntil: sql`${SERVER_NOW} + ${LEASE_MS}::bigint`,
              })
              .where(eq(deliveries.deliveryId, delivery.deliveryId));
          }
          // Its next turn comes behind the webhooks that wait already.
          await queueWebhook(orm, webhookId, now);
          if (isReady) return { delivery, webhook: readWebhook(webhook) };
        }
      });
    },

    nextDueAt: () =>
      read(async (orm) => {
        const [row] = await orm
          .select({ dueAt: webhooks.dueAt })
          .from(webhooks)
          .where(isNotNull(webhooks.dueAt))
          .orderBy(asc(webhooks.dueAt))
          .limit(1);
        return row?.dueAt ?? null;
      }),

    endAttempt: (deliveryId, at, outcome, end) =>
      transact(async (orm) => {
        const seen = await findDelivery(orm, deliveryId);
        const webhook = seen === undefined ? null : await lockWebhook(orm, seen.webhookId);
        // Another process sends it by now, or has sent it.
        const isHeld = and(
          eq(deliveries.deliveryId, deliveryId),
          eq(deliveries.owner, processId),
          eq(deliveries.state, "sending"),
        );
        const [delivery] = await orm.select(DELIVERY_COLUMNS).from(deliveries).where(isHeld);
        if (delivery === undefined || webhook === null) return;
        await applyChange(orm, webhook, end.webhook);
        const isDisabled = (end.webhook.disabledReason ?? webhook.disabledReason) !== null;
        const isGivenUp = end.state === "pending" && isDisabled && delivery.url === null;
        const last = isGivenUp ? ({ state: "failed", nextAttemptAt: null } as const) : end;
        const { state, nextAttemptAt } = last;
        await orm
          .update(deliveries)
          .set({
            ...outcome,
            attempts: delivery.attempts + 1,
            scheduled: delivery.scheduled + 1,
            lastAttemptAt: at,
            ...{ state, nextAttemptAt, owner: null, leaseUntil: null },
          })
          .where(isHeld);
        if (nextAttemptAt !== null) await hasten(orm, webhook.webhookId, nextAttemptAt);
      }),

    reapDeliveries: () => transact((orm) => releaseDeliveries(orm, hasEnded(deliveries.leaseUntil))),
  };
}
