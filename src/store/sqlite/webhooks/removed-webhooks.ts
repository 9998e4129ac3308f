import { sql } from "drizzle-orm";
import { DELIVERIES_AT_ONCE_MAX } from "../../delivery-steps.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries } from "../schema.ts";
import type { DeliveryStatements } from "./delivery-statements.ts";

/** Webhooks with deliveries that are looked at by one look: less than a millisecond. */
const LOOKED_AT_MAX = 200;

/**
 * The deliveries of removed webhooks, which are removed in steps. What a former process left is found once for each
 * process, some webhooks with each call of `removeLeft`.
 */
export function createRemovedWebhooks(
  orm: Orm,
  { removeOf }: Pick<DeliveryStatements, "removeOf">,
  isThere: (webhookId: string) => boolean,
) {
  /** Webhooks that may have deliveries left. */
  const left = new Set<string>();
  /** The last webhook that was looked at; null once all are. */
  let lookedUpTo: string | null = "";

  function removeSome(webhookId: string, limit: number): number {
    const removed = removeOf(webhookId, limit);
    if (removed === limit) left.add(webhookId);
    else left.delete(webhookId);
    return removed;
  }

  function lookFurther(): void {
    if (lookedUpTo === null) return;
    const seen = orm.values<[id: string]>(nextWebhooks(lookedUpTo)).map(([id]) => id);
    for (const id of seen) left.add(id);
    lookedUpTo = seen.length < LOOKED_AT_MAX ? null : (seen.at(-1) ?? null);
  }

  return {
    /** Removes the first deliveries of a webhook that is removed in this transaction. */
    begin: (webhookId: string): void => void removeSome(webhookId, DELIVERIES_AT_ONCE_MAX),

    /** Removes up to `limit` deliveries of webhooks that are gone; returns how many. */
    removeLeft(limit: number): number {
      lookFurther();
      let removed = 0;
      for (const webhookId of left) {
        // The transaction that removed it may have been undone.
        if (isThere(webhookId)) left.delete(webhookId);
        else removed += removeSome(webhookId, limit - removed);
        if (removed === limit) break;
      }
      return removed;
    },
  };
}

/** Steps from each webhook with deliveries to the next by their index: its cost is by webhooks, not by deliveries. */
const nextWebhooks = (afterId: string) => sql`
  WITH RECURSIVE seen(id, n) AS (
    SELECT (SELECT min(${deliveries.webhookId}) FROM ${deliveries} WHERE ${deliveries.webhookId} > ${afterId}), 1
    UNION ALL
    SELECT (SELECT min(${deliveries.webhookId}) FROM ${deliveries} WHERE ${deliveries.webhookId} > seen.id), n + 1
      FROM seen WHERE seen.id IS NOT NULL AND n < ${LOOKED_AT_MAX})
  SELECT id FROM seen WHERE id IS NOT NULL ORDER BY id`;
