import { and, desc, eq, gt, inArray, ne, sql } from "drizzle-orm";
import { JOB_ID_CHARS, JOB_ID_NAME, PAUSED_EVENT, PAUSES_OF_JOB_MAX } from "../../paused-deliveries.ts";
import { LAST_DELIVERIES, TEST_EVENT } from "../../test-deliveries.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries } from "../schema.ts";

// What is removed of the last deliveries of a locked webhook, as any number of its kind may be written.

function lastOf(orm: Orm, webhookId: string) {
  const { deliveryId, type, url, body, createdAt } = deliveries;
  return orm
    .select({ deliveryId, type, url, body, createdAt })
    .from(deliveries)
    .where(eq(deliveries.webhookId, webhookId))
    .orderBy(desc(createdAt), desc(deliveryId))
    .limit(LAST_DELIVERIES)
    .as("last");
}

/** Removes those test events among the last deliveries that are older than the `keptMax` newest. */
export async function removeTests(orm: Orm, webhookId: string, keptMax: number): Promise<void> {
  const last = lastOf(orm, webhookId);
  const old = orm
    .select({ deliveryId: last.deliveryId })
    .from(last)
    .where(eq(last.type, TEST_EVENT))
    .orderBy(desc(last.createdAt), desc(last.deliveryId))
    .offset(keptMax);
  await orm.delete(deliveries).where(inArray(deliveries.deliveryId, old));
}

/**
 * Removes those events of pauses among the last deliveries that are older than the newest of the same job and address. One
 * is kept, whichever it is: where the clock was set back the new one would be the oldest.
 */
export async function removePauses(orm: Orm, webhookId: string, keptId: string): Promise<void> {
  const last = lastOf(orm, webhookId);
  const start = sql`strpos(${last.body}, ${JOB_ID_NAME}::text)`;
  const job = sql`substr(${last.body}, ${start}, ${JOB_ID_CHARS}::int)`;
  const newestFirst = sql`${last.createdAt} DESC, ${last.deliveryId} DESC`;
  const pauses = orm
    .select({
      deliveryId: last.deliveryId,
      place: sql`row_number() OVER (PARTITION BY ${job}, ${last.url} ORDER BY ${newestFirst})`.as("place"),
    })
    .from(last)
    .where(eq(last.type, PAUSED_EVENT))
    .as("pauses");
  const old = orm
    .select({ deliveryId: pauses.deliveryId })
    .from(pauses)
    .where(and(gt(pauses.place, PAUSES_OF_JOB_MAX), ne(pauses.deliveryId, keptId)));
  await orm.delete(deliveries).where(inArray(deliveries.deliveryId, old));
}
