import { and, eq } from "drizzle-orm";
import type { WebhookPort, WebhookRecord } from "../../webhook-port.ts";
import { lockUnerased } from "../account-locks.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { keepReply } from "../reply-rows.ts";
import { webhooks } from "../schema.ts";
import { deliveryCases } from "./delivery-cases.ts";
import { deliveryQueueCases } from "./delivery-queue-cases.ts";
import { removeDeliveriesOf } from "./removed-webhooks.ts";
import { applyChange, insertWebhook, lockWebhook, readWebhook, webhooksOf } from "./webhook-rows.ts";

/** Webhooks, and the queue of their deliveries that all nodes send from. `processId` is of this process alone. */
export function createWebhookCases(connection: Connection, processId: string): WebhookPort {
  return {
    ...ownerCases(connection, processId),
    ...deliveryCases(connection, processId),
    ...deliveryQueueCases(connection, processId),
  };
}

type OwnerCases = Pick<
  WebhookPort,
  "createWebhook" | "findWebhook" | "webhooksOf" | "changeWebhook" | "removeWebhook"
>;

function ownerCases({ transact, read }: Connection, processId: string): OwnerCases {
  async function lockOwned(orm: Orm, accountId: string, webhookId: string): Promise<WebhookRecord | null> {
    const found = await lockWebhook(orm, webhookId);
    return found?.accountId === accountId ? found : null;
  }

  return {
    createWebhook: (webhook, webhooksMax, reply) =>
      transact(async (orm) => {
        await lockUnerased(orm, webhook.accountId);
        if ((await webhooksOf(orm, webhook.accountId)).length >= webhooksMax) return false;
        await insertWebhook(orm, webhook);
        await keepReply(orm, processId, reply);
        return true;
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

    changeWebhook: (accountId, webhookId, changeOf, replyOf) =>
      transact(async (orm) => {
        const before = await lockOwned(orm, accountId, webhookId);
        if (before === null) return null;
        await applyChange(orm, before, changeOf(before));
        const after = (await lockOwned(orm, accountId, webhookId)) ?? before;
        await keepReply(orm, processId, replyOf(after));
        return after;
      }),

    removeWebhook: async (accountId, webhookId) => {
      const isRemoved = await transact(async (orm) => {
        if ((await lockOwned(orm, accountId, webhookId)) === null) return false;
        await orm.delete(webhooks).where(eq(webhooks.webhookId, webhookId));
        return true;
      });
      if (isRemoved) await removeDeliveriesOf(transact, [webhookId]);
      return isRemoved;
    },
  };
}
