import { and, asc, eq, gt, inArray, isNotNull, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Orm } from "../connection/orm.ts";
import { STATEMENT_NOW } from "../connection/server-clock.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";
import { lockedInOrder } from "./webhook-rows.ts";
import { isPending } from "./webhook-turns.ts";

/**
 * Makes up to `limit` pending deliveries, and turns of webhooks, due at `now` that are due after `latest`; returns how
 * many. The turns are found by their index, and of deliveries those that are pending are read. Where this node's clock is behind the server's, `latest` is by the server's: it would
 * have the retries of all nodes made at once, again and again. The deliveries of webhooks that are gone stay as they are.
 */
export async function recallDeliveries(
  orm: Orm,
  now: number,
  latest: number,
  limit: number,
): Promise<number> {
  const isLate = (column: AnyPgColumn) =>
    gt(column, sql`greatest(${latest}::bigint, ${STATEMENT_NOW} + ${latest - now}::bigint)`);
  const turns = await orm
    .select({ webhookId: webhooks.webhookId })
    .from(webhooks)
    .where(and(isNotNull(webhooks.dueAt), isLate(webhooks.dueAt)))
    .limit(limit);
  const isStranded = and(isPending, isLate(deliveries.nextAttemptAt));
  const isOwned = sql`EXISTS (SELECT FROM ${webhooks} WHERE ${eq(webhooks.webhookId, deliveries.webhookId)})`;
  const stranded = await orm
    .select({ deliveryId: deliveries.deliveryId, webhookId: deliveries.webhookId })
    .from(deliveries)
    .where(and(isStranded, isOwned))
    .orderBy(asc(deliveries.nextAttemptAt))
    .limit(limit - turns.length);
  if (turns.length + stranded.length === 0) return 0;
  const locked = await lockedInOrder(
    orm,
    inArray(
      webhooks.webhookId,
      [...turns, ...stranded].map(({ webhookId }) => webhookId),
    ),
  );
  const webhookIds = locked.map(({ webhookId }) => webhookId);
  const deliveryIds = stranded.map(({ deliveryId }) => deliveryId);
  await orm
    .update(deliveries)
    .set({ nextAttemptAt: now })
    .where(
      and(inArray(deliveries.deliveryId, deliveryIds), inArray(deliveries.webhookId, webhookIds), isStranded),
    );
  await orm
    .update(webhooks)
    .set({ dueAt: sql`least(coalesce(${webhooks.dueAt}, ${now}::bigint), ${now}::bigint)` })
    .where(inArray(webhooks.webhookId, webhookIds));
  return turns.length + stranded.length;
}
