import { and, asc, eq, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import { removeInSlices } from "../../../platform/slices.ts";
import { DELIVERIES_AT_ONCE_MAX } from "../../delivery-steps.ts";
import { isStorageFailure } from "../../storage-error.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";
import { lockedInOrder } from "./webhook-rows.ts";

/** Webhooks whose deliveries are looked at by one look: some milliseconds. */
const LOOKED_AT_MAX = 1_000;

/** Removes the webhooks of an account, and returns their ids. Their deliveries are to be removed once that is committed. */
export async function removeWebhooks(orm: Orm, accountId: string): Promise<readonly string[]> {
  const own = eq(webhooks.accountId, accountId);
  const locked = await lockedInOrder(orm, own);
  await orm.delete(webhooks).where(own);
  return locked.map(({ webhookId }) => webhookId);
}

/**
 * Removes the deliveries of webhooks that are removed already, in steps. What the store cannot remove now is left to
 * `createLeftoverRemoval`.
 */
export async function removeDeliveriesOf(
  transact: Connection["transact"],
  webhookIds: readonly string[],
): Promise<void> {
  try {
    for (const webhookId of webhookIds) {
      const remove = (limit: number) => transact((orm) => removeOf(orm, webhookId, limit));
      await removeInSlices(remove, DELIVERIES_AT_ONCE_MAX, new AbortController().signal);
    }
  } catch (error) {
    if (!isStorageFailure(error)) throw error;
  }
}

/**
 * Returns what removes up to `limit` deliveries whose webhook is gone, of the webhooks that it looks at, and returns how
 * many. Each call looks at the next ones, and begins again behind the last, so that what a process left behind as it
 * ended is found.
 */
export function createLeftoverRemoval({ transact, read }: Connection): (limit: number) => Promise<number> {
  let lookedUpTo = "";
  return async (limit) => {
    const seen = await read((orm) => orm.execute<SeenWebhook>(nextWebhooks(lookedUpTo)));
    let removed = 0;
    for (const { id, gone } of seen) {
      if (!gone) continue;
      removed += await transact((orm) => removeOf(orm, id, limit - removed));
      if (removed === limit) return removed;
    }
    lookedUpTo = seen.length < LOOKED_AT_MAX ? "" : (seen.at(-1)?.id ?? "");
    return removed;
  };
}

/** Removes up to `limit` deliveries that are older than `before` and have no attempt left; returns how many. */
export function removeOld(orm: Orm, before: number, limit: number): Promise<number> {
  const which = and(lt(deliveries.createdAt, before), isNull(deliveries.nextAttemptAt));
  return removeSome(orm, which, [asc(deliveries.createdAt)], limit);
}

/**
 * Each step goes by the index of the webhook alone. The server would read all that is left of a webhook with many to
 * sort it, or the table from its start, past what the steps before have removed.
 */
async function removeOf(orm: Orm, webhookId: string, limit: number): Promise<number> {
  await orm.execute(
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  );
  return removeSome(orm, eq(deliveries.webhookId, webhookId), [], limit);
}

/** What another session removes, or ends an attempt of, is passed over. */
async function removeSome(
  orm: Orm,
  which: SQL | undefined,
  order: readonly SQL[],
  limit: number,
): Promise<number> {
  const some = orm
    .select({ deliveryId: deliveries.deliveryId })
    .from(deliveries)
    .where(which)
    .orderBy(...order)
    .limit(limit)
    .for("update", { skipLocked: true });
  const removed = await orm
    .delete(deliveries)
    .where(inArray(deliveries.deliveryId, some))
    .returning({ deliveryId: deliveries.deliveryId });
  return removed.length;
}

type SeenWebhook = { readonly id: string; readonly gone: boolean };

/** Steps from each webhook with deliveries to the next by their index: its cost is by webhooks, not by deliveries. */
const nextWebhooks = (afterId: string) => sql`
  WITH RECURSIVE seen AS (
    SELECT min(${deliveries.webhookId}) AS id, 1 AS n FROM ${deliveries}
      WHERE ${deliveries.webhookId} > ${afterId}::text
    UNION ALL
    SELECT (SELECT min(${deliveries.webhookId}) FROM ${deliveries} WHERE ${deliveries.webhookId} > seen.id), n + 1
      FROM seen WHERE seen.id IS NOT NULL AND n < ${LOOKED_AT_MAX}::int)
  SELECT id, (SELECT ${webhooks.webhookId} FROM ${webhooks} WHERE ${webhooks.webhookId} = seen.id) IS NULL AS gone
    FROM seen WHERE id IS NOT NULL ORDER BY id`;
