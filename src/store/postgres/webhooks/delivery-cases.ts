import { and, desc, eq, gte, ne } from "drizzle-orm";
import { isBehind } from "../../conditions.ts";
import { TEST_DELIVERIES_MAX } from "../../test-deliveries.ts";
import type { WebhookPort } from "../../webhook-port.ts";
import type { Connection } from "../connection/connection.ts";
import { keepReply } from "../reply-rows.ts";
import { webhookDeliveries as deliveries } from "../schema.ts";
import { removeTests } from "./last-deliveries.ts";
import { createLeftoverRemoval, removeOld } from "./removed-webhooks.ts";
import { DELIVERY_COLUMNS, deliver, findDelivery, lockWebhook, newEventId } from "./webhook-rows.ts";
import { hasten } from "./webhook-turns.ts";

type DeliveryCases = Pick<
  WebhookPort,
  "addDelivery" | "deliveryPage" | "replayDelivery" | "removeDeliveries"
>;

/** Deliveries as their account sees them. */
export function deliveryCases(connection: Connection, processId: string): DeliveryCases {
  const { transact, read } = connection;
  const removeLeft = createLeftoverRemoval(connection);
  return {
    addDelivery: (webhook, event, replyOf) =>
      transact(async (orm) => {
        if ((await lockWebhook(orm, webhook.webhookId))?.disabledReason !== null) return null;
        // The new one is not among them: where the clock was set back it would be the oldest.
        await removeTests(orm, webhook.webhookId, TEST_DELIVERIES_MAX - 1);
        const delivery = await deliver(orm, webhook, event, await newEventId(orm), null);
        await keepReply(orm, processId, replyOf(delivery));
        return delivery;
      }),

    deliveryPage: ({ webhookId, afterDeliveryId, since, limit }) =>
      read(async (orm) => {
        const after = afterDeliveryId === null ? undefined : await findDelivery(orm, afterDeliveryId);
        if (afterDeliveryId !== null && after?.webhookId !== webhookId) return null;
        const rest = isBehind(deliveries, "deliveryId", after);
        return orm
          .select(DELIVERY_COLUMNS)
          .from(deliveries)
          .where(and(eq(deliveries.webhookId, webhookId), gte(deliveries.createdAt, since), rest))
          .orderBy(desc(deliveries.createdAt), desc(deliveries.deliveryId))
          .limit(limit);
      }),

    replayDelivery: (webhookId, deliveryId, at, replyOf) =>
      transact(async (orm) => {
        if ((await lockWebhook(orm, webhookId))?.disabledReason !== null) return null;
        if ((await findDelivery(orm, deliveryId))?.webhookId !== webhookId) return null;
        await orm
          .update(deliveries)
          .set({ state: "pending", scheduled: 0, nextAttemptAt: at })
          .where(and(eq(deliveries.deliveryId, deliveryId), ne(deliveries.state, "sending")));
        await hasten(orm, webhookId, at);
        const delivery = (await findDelivery(orm, deliveryId)) ?? null;
        if (delivery !== null) await keepReply(orm, processId, replyOf(delivery));
        return delivery;
      }),

    removeDeliveries: async (before, limit) => {
      const left = await removeLeft(limit);
      if (left === limit) return left;
      return left + (await transact((orm) => removeOld(orm, before, limit - left)));
    },
  };
}
