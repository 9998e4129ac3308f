import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { DELIVERIES_AT_ONCE_MAX } from "../../delivery-steps.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";

// When the pending deliveries of a webhook have their turn.

/** A parameter would keep the database from the index of these deliveries alone. */
export const isPending = sql`${deliveries.state} = 'pending'`;

/** Sets when a webhook has its next turn; `notBefore` puts it behind those that wait already. */
export async function queueWebhook(orm: Orm, webhookId: string, notBefore: number): Promise<void> {
  const next = sql`(
    SELECT min(${deliveries.nextAttemptAt}) FROM ${deliveries}
    WHERE ${deliveries.webhookId} = ${webhookId} AND ${isPending})`;
  await orm
    .update(webhooks)
    .set({ dueAt: sql`CASE WHEN ${next} IS NULL THEN NULL ELSE greatest(${next}, ${notBefore}::bigint) END` })
    .where(eq(webhooks.webhookId, webhookId));
}

/** Gives a webhook a turn at that time where it has none before; one that waits already keeps its place. */
export async function hasten(orm: Orm, webhookId: string, at: number): Promise<void> {
  await orm
    .update(webhooks)
    .set({ dueAt: sql`least(coalesce(${webhooks.dueAt}, ${at}::bigint), ${at}::bigint)` })
    .where(eq(webhooks.webhookId, webhookId));
}

/**
 * Gives up what waits for a locked webhook that is disabled. Where that is more than one transaction may give up, it has its
 * next turn at `at`, for the rest.
 */
export async function giveUpPending(orm: Orm, webhookId: string, at: number): Promise<void> {
  const some = orm
    .select({ deliveryId: deliveries.deliveryId })
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), isPending, isNull(deliveries.url)))
    .limit(DELIVERIES_AT_ONCE_MAX);
  const givenUp = await orm
    .update(deliveries)
    .set({ state: "failed", nextAttemptAt: null, error: "webhook_disabled" })
    .where(inArray(deliveries.deliveryId, some))
    .returning({ deliveryId: deliveries.deliveryId });
  await queueWebhook(orm, webhookId, at);
  if (givenUp.length === DELIVERIES_AT_ONCE_MAX) await hasten(orm, webhookId, at);
}
